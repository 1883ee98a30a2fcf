"""The help of commands: its layout, and examples that a test runs."""
