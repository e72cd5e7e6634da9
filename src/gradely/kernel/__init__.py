"""The numbers: batches of rankings, tie groups, and one formula per family of measures.

    batch         where the judged documents of a block of queries stand, and the labels of a collection
    arrays        from arrays of scores and labels, of groups and of ids to batches
    swapped       scores and labels that look swapped
    fixed         batches of fixed shape, for compilers
    ties          sums over tie groups, and tied documents in order of priority
    compositions  how many documents of each kind stand above a place of a tie group: means, and the best order
    cascades      what a tie group adds for a user who may stop at each document
    families      what each judged document adds to a measure, as a mean over all orders of ties
    series        sums over many places in closed form, to full precision
    by_place      the same for each place, which is faster where every document is judged
    subtopics     labels by subtopic, and the greedy ideal
    uncertain     labels that are probabilities: exact means over all labels
    gains         from relevance to gains and from ranks to discounts
    parameters    what measures and relevance functions are declared with
    backend       the array library of some arrays, and what is done differently in each

Only backend knows array libraries by name: the other files follow the array API standard.
"""
