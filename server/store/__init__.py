"""What the server keeps, and where."""
