"""The formats a report is written in."""
