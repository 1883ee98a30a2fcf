"""`wirewright bundles`: the bundles of component types, listed and installed."""
