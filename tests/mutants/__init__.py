"""Mutants: the code, changed by one operator, number, comparison or call at a time. Each change must break a test.

`make mutants` lists those that no test notices; `python -m tests.mutants gains.py` looks at one file, `--area ties` at
one area. A mutant lives in memory only: a process of its own compiles it from the changed syntax tree, and no file is
touched. It meets the quickest tests of its area first, which most do not survive, then the others. What became of it is
kept in .mutants, so that the next time only what has changed is looked at.

Changes that nobody could notice are listed in tests/survivors.txt, each with the reason why. One that survives and is
not listed fails the check.
"""
