"""Reports of a play: one self-contained HTML page, and the same as Markdown, JSON, CSV and JUnit XML."""
