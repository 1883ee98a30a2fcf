"""Do the graders work? Faults are seeded into passing attempts, and the evaluators must see them."""
