"""The fuzzer: broken files through every command, and what must be equal compared at scale.

`python -m tests.fuzz --minutes 1 --seed 0 --processes 2` runs it and counts what it did. It needs what gradely itself
needs, and uses pandas, polars and pyarrow where they are. A failure is made as small as it gets and saved in
tests/fuzz/cases, where tests/project/test_fuzz.py finds it.
"""
