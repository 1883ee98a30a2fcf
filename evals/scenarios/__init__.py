"""The scenarios that come with Wirewright, and reading scenarios from files."""
