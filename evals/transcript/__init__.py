"""What an attempt's transcript says: tool calls, claims, questions and language."""
