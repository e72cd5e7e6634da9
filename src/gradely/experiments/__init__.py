"""Experiments on evaluated systems: comparisons, significance, what ties do."""
