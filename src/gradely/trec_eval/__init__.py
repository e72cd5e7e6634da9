"""A drop-in replacement for trec_eval: the same options and the same output, of versions 9 and 10.

    command   from the options to the output
    options   the command line, parsed as by getopt_long
    read      judgments and runs, with the tolerance of trec_eval
    measures  the measures, with their parameters and columns

Most values are computed by the measures of gradely.
"""
