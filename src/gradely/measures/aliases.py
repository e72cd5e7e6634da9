"""What other libraries call the measures, and what to type where gradely has none."""

ALIASES = {
    "MAP": "AP",
    "muMAP": "muAP",
    "μAP": "muAP",
    "μMAP": "muAP",
    "nDCGφ": "nDCGphi",
    "MRR": "RR",
    "Precision": "P",
    "Recall": "R",
    "HitRate": "Success",
    "SetP": "P",
    "SetR": "R",
    "SetF": "F",
    "SetRelP": "RelativeP",
    "R_cap": "RelativeP",
    "r-precision": "Rprec",
    "hits": "Utility(b=0)",
    "dcg_burges": "DCG(gain='exp')",
    "ndcg_burges": "nDCG(gain='exp')",
    "RetrievalMAP": "AP",
    "RetrievalMRR": "RR",
    "RetrievalPrecision": "P",
    "RetrievalRecall": "R",
    "RetrievalHitRate": "Success",
    "RetrievalRPrecision": "Rprec",
    "RetrievalNormalizedDCG": "nDCG",
}
"""other names, of ir_measures, ranx, torchmetrics, BEIR; case, - and _ do not matter"""
PATTERNS = {
    r"map": "AP",
    r"map_cut[._](\d+)": "AP@{}",
    r"ndcg_cut[._](\d+)": "nDCG@{}",
    r"P[._](\d+)": "P@{}",
    r"recall[._](\d+)": "R@{}",
    r"success[._](\d+)": "Success@{}",
    r"recip_rank": "RR",
    r"set_P": "P",
    r"set_recall": "R",
    r"set_F": "F1",
    r"set_F[._]([\d.]+)": "F(x={})",
    r"set_relative_P": "RelativeP",
    r"relative_P[._](\d+)": "RelativeP@{}",
    r"iprec_at_recall[._]([\d.]+)": "IPrec(recall={})",
    r"11pt_avg": "IPrec",
    r"unj[._](\d+)": "Unjudged@{}",
    r"utility\.([-\d.]+),([-\d.]+),([-\d.]+),([-\d.]+)": "Utility(a={}, b={}, c={}, d={})",
    r"rbp\.(\d+)": "RBP(p=0.{})",
    r"([\w-]+(?:@\d+)?)-l(\d+)": "{}-l{}",
}
"""names with numbers in them, of trec_eval and ranx, and the names that they stand for"""
PARAMETERS = {"cutoff": "k", "gains": "gain", "beta": "x"}
"""what ir_measures calls parameters"""
_COUNT = "it counts, and is no measure of a ranking: `gradely trec_eval -m {}` prints it"
_TREC = "`gradely trec_eval -m {}` prints it"
_USERS = "gradely has no user models of that family; `RBP(p=0.8)` and `ERR` are near it"
_SUBTOPICS = "it needs judgments by subtopic, which gradely does not read; `nDCG` is near it without them"
_PREFERENCES = "it needs preference judgments, which gradely does not read; `bpref` is near it with qrels"
REFUSED = {
    **{ours: _COUNT.format(trec) for ours, trec in (("NumQ", "num_q"), ("NumRel", "num_rel"), ("NumRet", "num_ret"))},
    **{name: _COUNT.format(name) for name in ("num_q", "num_rel", "num_ret", "num_rel_ret", "num_nonrel_judged_ret")},
    **{name: _COUNT.format(name) for name in ("runid", "relstring")},
    "NumRelRet": _COUNT.format("num_rel_ret"),
    "SetAP": _TREC.format("set_map"),
    **{name: _TREC.format(name) for name in ("set_map", "ndcg_rel", "Rndcg", "Rprec_mult")},
    **{name: _TREC.format(name) for name in ("yaap", "ideal_dcg", "rbp_resid")},
    **dict.fromkeys(("BPM", "INST", "INSQ", "NERR8", "NERR9", "NERR10", "NERR11"), _USERS),
    **dict.fromkeys(("ERR_IA", "nERR_IA", "alpha_DCG", "α_DCG", "alpha_nDCG", "α_nDCG"), _SUBTOPICS),
    **dict.fromkeys(("NRBP", "nNRBP", "AP_IA", "MAP_IA", "P_IA", "StRecall"), _SUBTOPICS),
    **dict.fromkeys(("map_avgjg", "P_avgjg", "Rprec_mult_avgjg"), _PREFERENCES),
    "Compat": _PREFERENCES,
    "SDCG": "gradely scales by the ideal ranking of the query: `nDCG`",
    "Accuracy": "it is `Success` of gradely in BEIR and sentence-transformers; ir_measures' is near `bpref`",
    "Hole": "`Unjudged` says it by the judgments of the query itself",
    "RetrievalFallOut": "1 - `P` is the share of what is retrieved that is not relevant",
    "RetrievalAUROC": "`bpref` says how relevant and other judged documents are ordered",
    "RetrievalPrecisionRecallCurve": "`IPrec(recall=0.1)` is a point of it, `IPrec` the mean of eleven",
    "RetrievalRecallAtFixedPrecision": "`R` and `P` are at a cut-off; `IPrec` is precision at a level of recall",
    "gm_map": "a geometric mean over queries: scores.geometric_mean() of `AP`, or `gradely trec_eval -m gm_map`",
    "gm_bpref": "a geometric mean over queries: scores.geometric_mean() of `bpref`, or `gradely trec_eval -m gm_bpref`",
}
"""names of measures that are not here, and what to type"""
