"""`wirewright eval`: one file a subcommand."""
