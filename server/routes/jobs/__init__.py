"""Jobs, batches, schedules and webhooks over HTTP."""
