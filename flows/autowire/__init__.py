"""Autowiring: inferring connections from types and roles."""
