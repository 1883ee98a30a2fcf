"""Benchmarks: ratios to what Wirewright builds on or to another commit, and absolute figures for this machine."""
