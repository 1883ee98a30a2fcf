"""Reports of a play: a self-contained HTML page, Markdown, JSON, CSV and JUnit XML."""
