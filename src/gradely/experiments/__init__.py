"""Experiments: what can be learnt from many systems and many topics, and the experiments of the papers."""
