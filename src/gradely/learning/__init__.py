"""Learning to rank: how much a measure changes, on average over all orders of ties, when two documents swap places."""
