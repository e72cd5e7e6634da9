"""TREC text: chunks of a megabyte or two, read once, worked on with array operations.

    plain         the plain reader, line by line, which explains errors
    match         which judgment a line is about
    scattered     the same for files whose queries are not contiguous, in two passes
    qrels         judgments from a file
    runs          hits from a file
    survey        counts for `gradely check`
    text  a stream of lines as pieces that end where a query ends

Nothing in memory that is per line outlives its chunk. Whatever is odd about the text (fields, numbers, characters,
duplicates) is left to the plain reader; both give the same results.
"""
