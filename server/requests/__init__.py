"""Reading requests: body, query, and clients that disconnect."""
