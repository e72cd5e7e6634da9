"""Benchmarks: gradely and other tools on the same work."""
