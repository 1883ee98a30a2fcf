"""What is stored: its schema, and backups of it."""
