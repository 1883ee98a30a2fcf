"""Jobs on workers: how many a second, what each writes, and what an idle worker costs."""
