"""What waits for the user: what was asked, and what became of it."""
