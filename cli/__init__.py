"""The `wirewright` command: words in, JSON or readable text out; everything it does is done by the floors below."""
