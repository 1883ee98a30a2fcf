"""Layout: where nodes stand on the canvas."""
