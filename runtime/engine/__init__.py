"""The flow engine process: starting it, its protocol, supervision and isolation."""
