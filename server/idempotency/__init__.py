"""Requests that name an `Idempotency-Key`: sent again, they get the same answer and make nothing twice."""
