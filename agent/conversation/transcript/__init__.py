"""The transcripts of conversations: every message with what came of it, for people to read, never for a model."""
