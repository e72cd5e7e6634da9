"""Readers: files of every format, dataframes, records and dicts become tables of query, document and number.

`formats` recognises the format of a file and says which module reads it, `exports` converts the files and objects of
other tools to rows, and `readers` has read_qrels and read_run, which accept all of them. An error names the file, the
line, what was found there, and what to do.
"""
