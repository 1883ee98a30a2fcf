"""What users keep secret: variables and keys of model providers, encrypted."""
