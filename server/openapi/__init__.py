"""The description of the HTTP API, as OpenAPI 3.1 and as a page."""
