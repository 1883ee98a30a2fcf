"""What tells right from wrong: matching flows, and reading what a transcript claims, asks and calls."""
