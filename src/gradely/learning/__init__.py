"""Learning to rank: how much a measure changes, on average over all orders of ties, when two documents swap places.

    lambdas  lambdas: gradients for gradient boosting
    swaps    the change of each family of measures when two documents swap places
    places   the ranks that each document can have, and sums over them

Measures whose change is not known in closed form are refused.
"""
