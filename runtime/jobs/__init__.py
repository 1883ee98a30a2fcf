"""Jobs: work that is queued in the database, and done by any process that shares it."""
