"""What a message asks for, read by a model or by rules."""
