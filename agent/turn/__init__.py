"""One user turn, from request to result."""
