"""`wirewright doctor`: what works here, what is missing, and how to get it."""
