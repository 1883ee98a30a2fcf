"""The documents that commands print with `--json`, as types: what they are made of, checked and documented from."""
