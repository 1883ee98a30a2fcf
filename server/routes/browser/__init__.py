"""What a browser asks for: the page, and signing in."""
