"""The smallest fix of a failed attempt."""
