"""The SQL database of everything that is stored: tables, migrations, and one engine."""
