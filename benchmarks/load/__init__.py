"""Load: what a turn costs beside the bare agent loop, many streams at once, and the server's memory at rest."""
