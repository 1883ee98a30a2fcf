"""What a run is given of the user's own, and what it gives back."""
