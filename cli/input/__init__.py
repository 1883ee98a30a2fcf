"""What commands read: whole texts and lines, from files and from standard input, within limits."""
