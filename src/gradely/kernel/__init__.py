"""The arithmetic: batches of rankings, tie groups, and one formula per family of measures.

    batch         ranks of the judged documents of a block of queries, and the labels of a collection
    arrays        batches from arrays of scores and labels, groups and ids
    swapped       detects scores and labels that look swapped
    fixed         batches of fixed shape, for compilers
    ties          sums over tie groups, and tied documents sorted by priority
    compositions  number of documents of each kind above a rank of a tie group: means, and the best order
    cascades      what a tie group adds for a user who may stop at each document
    families      what each judged document adds to a measure, as a mean over all orders of ties
    series        sums over many ranks in closed form, to full precision
    by_place      four of the families by rank, which is faster if every document is judged
    subtopics     labels by subtopic, and the greedy ideal
    uncertain     probabilistic labels: exact means over all labels
    gains         gains of relevance, and discounts by logarithms and powers
    parameters    how measures and relevance functions declare parameters
    backend       array libraries and the differences between them

Only backend knows array libraries by name: the other files follow the array API standard.
"""
