"""TREC text: chunks of a megabyte or two, read once, worked on with array operations.

    plain         the plain reader, line by line, which explains errors
    chunks        a file as chunks that end where a query ends
    fields        where the fields of lines are
    tokens        words of text as numbers, compared
    hashing       hashes of them
    name_order    names in the order of their bytes
    decimals      numbers from text, correctly rounded
    match         which judgment a line is about
    place         where the judged documents of a chunk stand
    tie_breaking  who stands first among tied documents
    scattered     the same for files whose queries are not contiguous, in two passes
    repeats       lines that are there twice
    spool         what is too much for memory, in parts on the disk
    qrels         judgments from a file
    runs          hits from a file
    file_ranges   hits from ranges of a large file, in worker processes
    survey        counts for `gradely check`
    one_query     the lines of one query

Nothing in memory that is per line outlives its chunk. Whatever is odd about the text (fields, numbers, characters,
duplicates) is left to the plain reader; both give the same results.
"""
