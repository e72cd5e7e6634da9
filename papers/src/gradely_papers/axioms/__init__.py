"""Axioms: what every measure should or should not do, each proved or refuted by a smallest counterexample."""
