"""A running Langflow: connections to it, its flows, and one update of a flow there."""
