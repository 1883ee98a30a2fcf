"""`wirewright langflow`, and the commands that read or change flows on a running Langflow."""
