"""Measurements of ionfast beside its peers. `python -m benchmarks` runs them and prints the ratios."""
