"""The numbers: what a batch of rankings is, tie groups, and the formulas of the families.

    batch          where the judged documents of a block of queries stand
    families       what each judged document adds to a measure, as a mean over all orders of ties
    by_place       the same by place, which takes less time for dense arrays
    gains          from relevance to gains, and from ranks to discounts
    fixed          batches of fixed shape, for compilers
    backend        the array library of some arrays
    arrays  from arrays of scores and labels to a Batch, in the caller's array library and on its device
    ties  sums and means over tie groups, exactly and without enumerating orders

The formulas speak the array API only, so that they run on NumPy, PyTorch, JAX and CuPy.
"""
