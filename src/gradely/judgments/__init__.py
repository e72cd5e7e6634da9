"""What the judgments themselves leave open: few human labels beside many of a machine, judges who disagree.

    estimate    estimate: the mean by human labels of some queries and a judge's labels of all
    sample      sample: which queries to give to people, drawn at random

They stand on the evaluation and the comparison of several runs.
"""
