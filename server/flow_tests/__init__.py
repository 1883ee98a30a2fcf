"""The saved tests of stored flows: where they are kept, and what runs them."""
