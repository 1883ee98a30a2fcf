"""`wirewright conversations`: what was said, listed, shown, renamed, removed and taken back."""
