"""The toolsets, one a file."""
