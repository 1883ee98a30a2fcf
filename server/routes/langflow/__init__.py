"""The routes of Langflow servers that a user has connected, and of stored flows that are linked to flows there."""
