"""What the commands that play scenarios share: which of them, where flows run, and what is printed in the end."""
