"""`wirewright files`: the user's files, which flows read and write."""
