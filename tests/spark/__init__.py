"""Tests on a real local Spark: make test-spark."""
