"""From judgments and a run to scores, and what there is to know about them.

    evaluate     evaluate and Evaluator, for one run
    runs         evaluate_runs and Evaluations, for several; every other way to evaluate stands on it
    values       the values of one run, measured batch by batch, with their notes and ranges of ties
    scores       what an evaluation returns: values by query, means, frames
    segments     means of groups of queries
    notes        what happened and matters, each with its count, as a sentence
    mismatch     low values that are mistakes of the data
    arrays       evaluate_arrays
    explain      one query, rank by rank
    explanation  what explain returns, as a table and in words
    check        what is wrong or odd in judgments and runs
    flat_names   values under names that experiment trackers take

Where the judged documents of a run stand comes from data; what several runs say together is for comparison.
"""
