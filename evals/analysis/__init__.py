"""Analysis of scored plays: statistics, comparison, cost, and a judge's opinions."""
