"""`wirewright flow`: one file a subcommand, and reading and writing the flows they work on."""
