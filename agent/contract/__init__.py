"""The wire contract: what clients send and receive."""
