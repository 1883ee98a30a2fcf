"""`wirewright chat`: a conversation in the terminal."""
