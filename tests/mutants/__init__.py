"""Mutants: the code with one thing changed (an operator, a number) or left out (a statement, a call). Tests notice.

`make mutants` lists those that no test notices; `python -m tests.mutants gains.py` looks at one file, `--area formulas`
at one area. A mutant lives in memory only: no file is touched. One process imports everything, collects the tests, and
finds out once which lines each test touches. Each mutant then lives in a fork of that process, where the code of one
function is exchanged, and meets only the tests that touch the changed line: those that noticed others of that function
first, then the quickest. What became of it is kept in .mutants, so that the next time only what has changed is looked
at.

Changes that nobody could notice are listed in tests/survivors.txt, each with the reason why. One that survives and is
not listed fails the check.
"""
