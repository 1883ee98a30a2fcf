"""Dynamic fields: fields and outputs that appear or change when another field is set."""
