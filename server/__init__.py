"""The HTTP server: routes, stored flows, and the encoders of a turn's events."""
