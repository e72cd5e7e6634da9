"""Proofs, in a line each, of the axioms that hold; a measure that is not named here has a counterexample."""

GAINS = ("DCG", "nDCG", "nDCG(gain='exp')", "NDCNG", "nDCGphi", "RBP", "RBP(relevance='identity')")
SETS = ("P", "R", "F1", "F(x=4)", "RelativeP", "Success", "Utility")
DIVIDED = ("P@k", "F1@k", "F(x=4)@k", "RelativeP@k")
COUNTS = (*DIVIDED, "Utility@k", "R@k", "Success@k", "Rprec")
MIXTURES = ("GAP", "eGAP", "muAP")
ALL = (*SETS, *COUNTS, "Judged", "AP", "RR", "bpref", "binG", *GAINS, "ERR", *MIXTURES, "xGAP")

_PROOFS: dict[str, list[tuple[tuple[str, ...], str]]] = {
    "up": [
        (SETS, "The same documents are retrieved."),
        (COUNTS, "Only who is in the top k counts; a swap can but bring the better one in."),
        (("Judged",), "Past a judged document nothing changes; past an unjudged one, it may enter the top k."),
        (("AP",), "With c relevant documents above, its precision (c+1)/(n+1) becomes (c+1)/n; others keep theirs."),
        (("RR",), "The first relevant document never moves down."),
        (("bpref",), "It has at most one judged non-relevant document fewer above it; no other has more."),
        (("binG",), "Past a document that is not relevant it has one fewer of them above it; others have as many."),
        (GAINS, "The larger gain is discounted less than before; the norm depends on the pool only."),
        (("ERR",), "Reached with chance P, stopping with p < q, it changes by P·(q-p)·(1/n - 1/(n+1)) > 0."),
        (MIXTURES, "A mixture of AP at each level, with weights that depend on the pool only; no AP falls."),
    ],
    "replace": [
        ((*SETS, *COUNTS), "As many documents, no fewer relevant ones in the top k."),
        (("Judged",), "As many documents, no fewer judged ones in the top k."),
        (("AP",), "It adds a precision of its own, where it was not relevant, and raises those below."),
        (("RR",), "The first relevant document never moves down."),
        (("binG",), "It adds a term > 0; those below have no more documents above them that are not relevant."),
        (("bpref",), "It adds a term >= 0; those below have no more judged non-relevant documents above them."),
        (GAINS, "A larger gain at the same rank; the norm depends on the pool only."),
        (("ERR",), "Reached with chance P, it grows with slope P·(1/n - V), V <= 1/(n+1) what is gained below."),
        (MIXTURES, "A mixture of AP at each level, with weights that depend on the pool only; no AP falls."),
        (("xGAP",), "w(r), a mean of 1/RB(k) over k <= r, does not fall with r; nor do w(r)·Σ_{k<=r} g_k and any Δ."),
    ],
    "add": [
        (DIVIDED, "What it is divided by depends on k and the pool only, and no document above moves."),
        (
            (
                "R",
                "R@k",
                "Rprec",
                "Success",
                "Success@k",
                "AP",
                "RR",
                "bpref",
                "binG",
                *GAINS,
                "ERR",
                *MIXTURES,
                "xGAP",
            ),
            "No document above moves, the norm depends on the pool only, and what a document adds is never negative.",
        ),
    ],
    "names": [(ALL, "The value is the mean over all orders of tied documents; names are never looked at.")],
    "names, trec": [(SETS, "All that is retrieved counts, in whatever order.")],
    "scale": [
        (("Judged",), "Labels are not looked at."),
        (("nDCG",), "Gains and ideal gains are halved alike."),
        (("NDCNG",), "Labels are divided by the highest of the query, which is halved alike."),
        (("nDCGphi",), "Median, quartiles and maximum are halved alike, so that φ is the same."),
        (("RBP(relevance='identity')",), "Labels are divided by the top of the scale, which is halved alike."),
        (("GAP", "eGAP", "xGAP"), "The levels that occur are the thresholds, and keep their shares of the users."),
        (("muAP",), "Distances between levels, and their sum, are halved alike."),
    ],
    "levels": [
        (
            (*SETS, *COUNTS, "Judged", "AP", "RR", "bpref", "binG", "DCG", "nDCG", "nDCG(gain='exp')", "RBP"),
            "Nothing is taken from other queries.",
        ),
        (("NDCNG", "nDCGphi", "muAP"), "The scale is that of the query's own pool."),
        (("GAP",), "The new level has RB = 0 and N = 0; the equal shares of the others cancel in the fraction."),
    ],
}

PROOFS = {(row, axiom): proof for axiom, pairs in _PROOFS.items() for measures, proof in pairs for row in measures}
"""by row and axiom"""
