"""-h: the options, and the measures in a line each."""

from gradely.trec_eval.catalogue import TABLE, select_names
from gradely.trec_eval.options import USAGE_LINE, Options

OPTIONS = """\
 -q  --query_eval_wanted             print the values of every query, too
 -m  --measure NAME[.PARAMETERS]     a measure, or a set of them: official (by default), all_trec, set, qrels_jg; repeat
 -c  --complete_rel_info_wanted      average over all judged queries; those that are not in the run count 0
 -n  --nosummary                     do not print the values over all queries
 -l  --level_for_rel LEVEL           labels of at least this are relevant; 1 by default
 -J  --Judged_docs_only              drop documents without judgment first
 -M  --Max_retrieved_per_topic MOST  keep so many documents of a query, best first
 -N  --Number_docs_in_coll SIZE      how many documents the collection has; utility may need it
 -Z  --Zscore FILE                   print z-scores; FILE has lines `query measure mean deviation`
 -R  --Rel_info_format FORMAT        format of the qrels: qrels, or qrels_jg, with groups of judgments
 -T  --Results_format FORMAT         format of the run: trec_results
 -v  --version                       print the version
 -h  --help                          print this text; with -m, explain those measures
     --compat 9|10                   behave as this version of trec_eval; else as GRADELY_TREC_EVAL says, else as 10
"""
ABOUT = {
    "runid": "the tag in the last line of the run",
    "num_q": "how many queries are averaged over",
    "num_ret": "how many documents are retrieved; over all queries, the sum",
    "num_rel": "how many documents are relevant; the sum",
    "num_rel_ret": "how many relevant documents are retrieved; the sum",
    "map": "average precision, AP in gradely",
    "gm_map": "the geometric mean of average precision, at least 0.00001 per query",
    "Rprec": "precision after as many documents as are relevant, Rprec in gradely",
    "bpref": "preference of relevant over other judged documents, bpref in gradely",
    "recip_rank": "1 over the rank of the first relevant document, RR in gradely",
    "iprec_at_recall": "interpolated precision at levels of recall, as in iprec_at_recall..10,.20; IPrec in gradely",
    "P": "precision at cut-offs, as in P.5,10",
    "relstring": "the labels of the first documents, as in relstring.10: - not judged, . a negative label, > above 9",
    "recall": "recall at cut-offs, R in gradely",
    "infAP": "average precision inferred from a sample of judgments, infAP in gradely",
    "gm_bpref": "the geometric mean of bpref",
    "Rprec_mult": "precision after a multiple of the relevant documents, as in Rprec_mult.0.5,1",
    "utility": "worth of the retrieved set, utility.a,b,c,d for relevant or not, retrieved or not; Utility in gradely",
    "11pt_avg": "the mean of interpolated precision over levels of recall, IPrec in gradely",
    "binG": "relevant documents discounted by the others above, binG in gradely",
    "G": "gains discounted by the gain that was missed above, G in gradely; G.1=3,2=9 gives levels gains",
    "dcg": "discounted cumulated gain, DCG in gradely; dcg.1=3,2=9 gives levels gains",
    "ideal_dcg": "dcg of the ideal ranking",
    "ndcg": "dcg over ideal_dcg, nDCG in gradely; ndcg.1=3,2=9 gives levels gains",
    "ndcg_rel": "the mean of ndcg at the ranks of documents that gain",
    "Rndcg": "the mean of ndcg at the ranks where the ideal gain falls",
    "ndcg_cut": "ndcg at cut-offs",
    "map_cut": "average precision at cut-offs",
    "relative_P": "precision at cut-offs over the best that is possible, RelativeP in gradely",
    "success": "whether a relevant document is within cut-offs, Success in gradely",
    "set_P": "precision of the retrieved set",
    "set_relative_P": "set_P over the best that is possible",
    "set_recall": "recall of the retrieved set",
    "set_map": "recall times precision of the retrieved set",
    "set_F": "(x+1)·P·R / (R + x·P) of the retrieved set, as in set_F.0.5; F in gradely",
    "num_nonrel_judged_ret": "how many retrieved documents are judged not relevant; the sum",
    "map_avgjg": "average precision, the mean over groups of judgments; with -R qrels_jg",
    "P_avgjg": "precision at cut-offs, the mean over groups of judgments",
    "Rprec_mult_avgjg": "precision after a multiple of the relevant documents, the mean over groups of judgments",
    "yaap": "log((1+s) / (1+R-s)), s the sum of precision at the R relevant documents",
    "rbp": "rank-biased precision, as in rbp.p=0.8; RBP in gradely; gains as in ndcg, brought to 0 … 1",
    "rbp_resid": "how much rank-biased precision would rise, were all documents without judgment relevant",
    "unj": "the share of documents without judgment at cut-offs, Unjudged in gradely",
}
"""each measure in a line"""


def help_text(options: Options) -> str:
    """Return the options and, in a line each, the measures that are asked for, or all."""
    names = select_names(options) if options.measures else list(TABLE)
    width = max(map(len, names))
    about = [f" {name:<{width}}  {ABOUT[name]}" for name in names]
    notes = "`gradely measures NAME` explains a measure of gradely.\n"
    return f"Usage: {USAGE_LINE}\n\n{OPTIONS}\n" + "\n".join(about) + f"\n\n{notes}"
