"""Archives: backups of everything that is stored, and one user's data, in a form that any database can read."""
