"""`wirewright eval pack`: making and checking packs of scenarios."""
