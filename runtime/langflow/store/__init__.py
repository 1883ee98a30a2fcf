"""What is known here of flows on Langflow servers: bases of merges, and links of stored flows."""
