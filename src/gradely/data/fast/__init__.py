"""The fast way through TREC text: pieces of a megabyte or two, read once, worked on with array operations.

    pieces     a file as pieces that end where a query ends, and threads to work on them
    columns    where the fields of lines are
    decimals   numbers from text, correctly rounded
    judgments  which judgment a line is about
    landing    where the judged documents of a piece landed
    tied       who stands first among tied lines
    scattered  landing for files whose queries are not contiguous, in two passes
    qrels      judgments from a file
    runs       hits from a file

Nothing that is per line outlives its piece. Whatever is odd about the text (fields, numbers, characters, duplicates) is
left to the plain reader, which explains errors; both give the same results.
"""
