"""What can be learnt from several runs on the same judgments: tests, intervals, correlations, pools, ties.

    compare             compare: several runs on the same queries, with honest statistics
    leaderboard         runs by name, on the queries that count for all of them, best first
    pairwise            every pair on every measure: difference, interval, test, effect size, wins
    groups              systems with several runs each: seeds, repetitions
    suite               suite: systems on several collections
    suite_gate          whether a system is worse over several collections
    random_effects      one difference from several collections
    tests               paired tests of the differences on each query, corrections, equivalence
    student             Student's t, central and noncentral
    intervals           estimates with standard errors, and confidence intervals
    sentences           the answer in one sentence: who is better than whom, and who cannot be told apart
    influence           how much a verdict depends on single queries
    segments            runs on each segment of the queries
    charts              charts: one look for all, and those of users and systems
    regression          the mean by a few human labels and many of a judge
    judged              the values of runs by human labels and by those of a judge
    open_pairs          which pairs of runs the labels of unjudged documents leave open
    gate                gate: whether a run is worse than an older one
    verdicts            what a gate says: drops against limits, means against floors
    plan                plan: the smallest difference that the queries can detect
    records             results that are records, and several tables made of them
    correlate           correlate: whether measures rank runs alike
    kendall             Kendall's τ and τ_AP
    overlap             overlap: how alike runs rank, without judgments
    similarities        how alike two rankings are: RBO, τ, τ_AP, Jaccard's index
    ties                tie_sensitivity: how much the order of tied documents decides
    users               users: for which users which run is better
    populations         means of runs for populations of users
    phi_curves          φ as people can look at it

All of them stand on the evaluation of several runs, so that no run is read twice.
"""
