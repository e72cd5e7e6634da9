"""Readers: from files of every format, dataframes, records and dicts to tables of queries, documents and numbers.

`formats` recognises a file and says which module reads it, `exports` turns what other tools write and hold into rows,
and `readers` has read_qrels and read_run, which take anything. An error names the file, the line, what was found there,
and what to do.
"""
