"""What is said about what the interpreter finds: what may be named, called, handed on, changed or read."""
