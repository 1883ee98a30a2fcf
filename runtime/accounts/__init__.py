"""The users of an installation that several people share: their names, tokens and scopes."""
