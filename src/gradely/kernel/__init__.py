"""The numbers: what a batch of rankings is, tie groups, and the formulas of the families.

    batch          where the judged documents of a block of queries stand
    tie_groups     sums and means over tie groups, and ties put in the best or worst order
    families       what each judged document adds to a measure, as a mean over all orders of ties
    by_place       the same by place, which takes less time for dense arrays
    orders         the best order of a tie group where no sorting finds it
    lower_levels   what stands above and beside a document on a lower level, for all thresholds at once
    gains          from relevance to gains, and from ranks to discounts
    levels         the distinct labels of a collection
    parameters     things defined by their parameters, as measures are
    from_arrays    from scores and labels to a batch
    from_groups    from flat arrays and groups to batches
    from_ids       from ranked and labelled ids to a batch
    assembly       the arrays of a batch, filled a block of rows at a time
    fixed          batches of fixed shape, for compilers
    backend        the array library of some arrays
    rows           sorting and looking up rows, as each library does it best
    notebook_card  what a notebook shows of a batch

The formulas speak the array API only, so that they run on NumPy, PyTorch, JAX and CuPy.
"""
