"""Scores of a run against qrels, with notes on the data.

    evaluate         evaluate and Evaluator, for one run; evaluate_runs, for several
    several_qrels    the same runs against several qrels, such as those of several judges
    values           the values of one run, computed batch by batch, with tie ranges; queries without relevant documents
    sampled          means over sampled orders of tied documents, if the exact mean is not available
    scores           the result of an evaluation: values by query, means, dataframes
    by_query         the queries of several runs side by side: the worst, the best, the largest losses
    stacked          the hits of many runs as one table
    open_documents   unjudged documents at the tops of runs, and the labels that they may have
    label_bounds     the range of each measure over these labels, and of differences; which measures have one
    label_ranges     the arithmetic of these ranges: extremes of sums and ratios, as array operations
    result           the base of all results of public functions: text, tables, dataframes, JSON, notebooks
    notes            sentences about events that matter to a result, each with its count
    likely_mistakes  swapped qrels and run, mismatched ids, labels that a binary measure overlooks
    arrays           evaluate_arrays
    explain          one query, rank by rank
    tie_orders       the orders of the tied documents of one query, with the value in each
    properties       properties of measures, found by trying them on small rankings
    check            errors and likely mistakes in qrels and runs

The ranks of judged documents come from data; comparison combines several runs.
"""
