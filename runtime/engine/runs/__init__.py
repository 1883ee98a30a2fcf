"""One run on the engine: its process, and what client and process say to each other."""
