"""Analyses of several runs on the same judgments: tests, intervals, correlations, pools, and ties.

    compare             compare: runs with tests, intervals and effect sizes
    leaderboard         runs on their common queries, best first
    pairwise            all pairs by all measures: difference, interval, test, effect size, wins
    groups              systems with several runs each, such as seeds
    suite               suite: systems on several collections
    suite_gate          gate on a suite
    random_effects      random-effects meta-analysis of collections
    tests               paired significance tests and corrections for multiple tests
    student             Student's t distribution, central and noncentral
    intervals           estimates with standard errors, and confidence intervals
    sentences           summaries, captions and notes of comparisons
    influence           influence of single queries on verdicts
    segments            comparisons on segments of the queries
    charts              Altair charts: common style, users, systems
    regression          means from a few human labels and many labels of a judge
    judged              runs by human labels combined with a judge's
    open_pairs          pairs that the labels of unjudged documents could reverse
    gate                gate: whether a new run is worse than an old one; saved scores
    verdicts            verdicts of a gate: drops and limits, means and floors
    plan                plan: detectable differences, and numbers of queries needed
    correlate           correlate and pools: rank correlations of measures and of pools
    kendall             Kendall's τ and τ_AP
    overlap             overlap: similarity of runs, without judgments
    similarities        similarities of two rankings: RBO, τ, τ_AP, Jaccard's index
    ties                tie_sensitivity: how much results depend on the order of ties
    users               users: the best run for each population of users
    populations         means of runs for populations of users
    phi_curves          phi: control points and curves of φ

All of them use the evaluation of several runs, which reads each run once.
"""
