"""Users' files: names, storage, search and locks."""
