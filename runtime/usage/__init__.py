"""What users use by day and model: tokens, requests, runs and what they cost."""
