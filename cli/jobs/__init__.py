"""Jobs, batches and schedules, and the worker that does them."""
