"""What a client may do without asking, and how its user is asked about the rest."""
