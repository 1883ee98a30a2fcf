"""What waits for the user: what was asked, how it is answered later, and what is taken back."""
