"""Readers: files of every format, dataframes, records and dicts become tables of query, document and number.

    readers      read_qrels and read_run, which accept all of them
    formats      recognises the format of a file, and says which module reads it
    trec         TREC files
    trec_pieces  TREC text with array operations, for all but small files
    pieces       any text in pieces of a few megabytes, and its numbers
    lines        TREC text line by line; the Collector of formats that are read line by line
    csv_files    CSV and TSV files, and runs of MS MARCO
    json_files   JSON and JSON Lines files
    letor        LETOR files
    frames       dataframes and Parquet files
    dicts        dicts of dicts
    records      lists of dicts, dataclasses or named tuples
    responses    the responses of search engines
    exports      files and objects of other tools
    passages     runs of passages as runs of documents
    subtopics    judgments by subtopic
    judges       the qrels of several judges

An error names the file, the line, what was found there, and what to do.
"""
