"""What the command gives to shells."""
