"""What can be learnt from several runs on the same judgments: tests, intervals, correlations, pools, ties.

    compare             compare: several runs on the same queries, with honest statistics
    comparison          what it returns: tables, frames and a page
    leaderboard         runs, best first
    design              how runs are compared: test, correction, family, intervals
    pairs               pairs of runs and the differences of their values
    pairwise            every pair on every measure: difference, interval, test, effect size, wins
    significance        p-values: paired tests, and their corrections
    resampling          tests that draw signs, queries or runs
    intervals           confidence intervals
    equivalence         whether two runs are as good as equal
    influence           how much a verdict depends on single queries
    matrix              pairs of runs as a matrix
    segment_comparison  the same by segment
    answers             the answer in one sentence
    captions            what stands below a comparison
    charts              charts, one look for all
    gate                gate: whether a run is worse than an older one
    verdict             what it returns
    saved_scores        scores in a file, for later comparisons
    plan                plan: what difference so many queries can show
    correlate           correlate: whether measures rank runs alike
    pools               pools: whether runs would be ranked alike, had fewer documents been judged
    kendall             Kendall's τ and τ_AP
    selection           which queries and runs a comparison of many runs is about
    stacked_runs        the hits of many runs in one table, measured together
    ties                tie_sensitivity: how much the order of tied documents decides
    users               users: for which users which run is better
    user_regions        what it returns
    user_charts         its charts
    populations         means of runs for populations of users
    phi_curves          φ as people can look at it

All of them stand on the evaluation of several runs, so that no run is read twice.
"""
