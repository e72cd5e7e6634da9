"""From judgments and a run to scores, and what there is to know about them.

    evaluate     evaluate and Evaluator, for one run
    several_qrels  the same runs by several qrels, such as those of several judges
    values       the values of one run, measured batch by batch, with their notes and ranges of ties
    empty        queries without relevant documents: which they are for a measure, and what becomes of them
    sampled      means over drawn orders of tied documents, where no exact mean can be had
    scores       what an evaluation returns: values by query, means, frames
    by_query     the queries of several runs beside each other: the worst, the best, the largest losses
    stacked      the hits of many runs as one table
    open_documents  unjudged documents at the tops of runs, and the labels that they may have
    label_bounds the range of each measure over these labels, and of differences; which measures have one
    label_ranges the arithmetic of that: extremes of sums and ratios, as array operations
    result       what all public functions return has in common: text, tables, frames, JSON, notebooks
    notes        what happened and matters, each with its count, as a sentence
    likely_mistakes  qrels and run that look swapped, ids of two kinds, labels that a binary measure overlooks
    arrays       evaluate_arrays
    explain      one query, rank by rank
    properties   what measures see and hold, found by trying them on small rankings
    check        what is wrong or odd in judgments and runs

Where the judged documents of a run stand comes from data; what several runs say together is for comparison.
"""
