"""Component search: tokenizer, index, ranking, and the words people use for components."""
