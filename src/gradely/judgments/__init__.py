"""What the judgments themselves leave open: unjudged documents, few human labels beside many of a machine, judges.

    judging     simulate_judging: how many judgments decide, in the order of worth and by rank
    holes       holes: what unjudged documents could change, and which of them to judge
    estimate    estimate: the mean by human labels of some queries and a judge's labels of all
    sample      sample: which queries to give to people, drawn at random
    judges      judges: how far several judges agree, and whether a conclusion survives the judge
    agreement   confusion tables, Cohen's κ, Krippendorff's α
    by_judge    the values of runs by each judge, their mean, and what depends on the judge
    conclusion  the answers in sentences
    merge       one qrels of several
    judge_charts  its charts

They stand on the evaluation and the comparison of several runs.
"""
