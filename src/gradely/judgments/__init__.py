"""Uncertain judgments: unjudged documents, few human labels with many machine labels, judges who disagree.

    holes       holes: what unjudged documents could change, and which of them to judge next
    judging     simulate_judging: how many judgments it takes to decide which of two runs is better
    sample      sample: queries for people to judge, drawn at random
    estimate    estimate: means from human labels of some queries and a judge's labels of all queries
    judges      judges: how far several judges agree, and whether conclusions about runs depend on the judge
    agreement   confusion tables, Cohen's κ, Krippendorff's α
    by_judge    the values of runs by each judge, and pairs of runs that depend on the judge
    conclusion  the answers of judges as sentences
    merge       several qrels as one: merged, or as the share of judges who gave each label
    judge_charts  the charts of judges

They build on evaluation and on the comparison of several runs.
"""
