"""Users' component types: rules for their source, inspection and storage."""
