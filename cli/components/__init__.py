"""`wirewright components`: search, describe and scan components."""
