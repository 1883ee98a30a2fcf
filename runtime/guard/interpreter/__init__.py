"""Abstract interpretation of a component's source: what each expression may denote."""
