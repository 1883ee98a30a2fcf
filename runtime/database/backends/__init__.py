"""What differs between SQLite and Postgres."""
