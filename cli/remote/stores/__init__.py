"""What a server stores, with the methods that the stores of this machine have."""
