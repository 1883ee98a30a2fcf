"""The tests of flows, prepared for their runs: of a file beside a flow, and of a stored flow."""
