"""The formats of reports."""
