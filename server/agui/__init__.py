"""AG-UI: what its clients send, and the adapter that serves any PydanticAI agent to them."""
