"""Secrets at rest: encrypted files, and the variables that a user keeps."""
