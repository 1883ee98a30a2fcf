"""How much users may ask of the server, each with a setting and a typed error."""
