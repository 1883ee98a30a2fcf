"""What a flow is: documents, the catalogue, spec text, ports, edits, checks and layout. Nothing here runs a flow."""
