"""Component search: tokenizer, index, ranking, spelling correction and vocabulary."""
