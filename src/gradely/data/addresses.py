"""Addresses that are not files: data set ids and URLs. Nothing is downloaded; errors say how to get a file."""

import re

DATASETS = (
    r"(antique|aol-ia|aquaint|argsme|beir|bright|c4|car|clinicaltrials|clirmatrix|clueweb(09|12)|codec|codesearchnet|"
    r"cord19|cranfield|csl|disks45|dpr-w100|gov2?|hc4|highwire|istella22|kilt|lotte|medline|miracl|mmarco|mr-tydi|"
    r"msmarco-[\w-]+|nano-beir|natural-questions|neuclir|neumarco|nfcorpus|nyt|pmc|sara|touche-image|trec-[\w-]+|tripclick|"
    r"tweets2013-ia|vaswani|wapo|wikiclir|wikir)(/[\w./-]*)?"
)
"""matches ids of ir_datasets, by the first part of each"""
PYSERINI = (
    r"(msmarco-(v\d|(passage|doc)-(dev|test|train))|dl\d\d-(passage|doc)|(beir|miracl|mrtydi)-v\d|neuclir\d\d-|bright-)"
    r"[\w.-]*"
)
"""matches names of topics and qrels in Pyserini and Anserini, some of which begin like ids of ir_datasets"""


def advise(path: str) -> str:
    """Return advice for a path that is not a file but an address known from other tools, or ''.

    >>> advise("https://example.org/qrels.txt")
    '; nothing is downloaded: get the file first, with curl -LO https://example.org/qrels.txt'
    >>> advise("missing.run")
    ''
    """
    name = path.removeprefix("irds:")
    url = re.fullmatch(r"(\w+)://(.+)", path)
    if url is not None and url[1] == "hf":
        dataset = "/".join(url[2].removeprefix("datasets/").split("/")[:2])
        return (
            f"; nothing is downloaded: in Python, give datasets.load_dataset({dataset!r}, split='test'), or get the "
            f"file first, with hf download --repo-type dataset {dataset}"
        )
    if url is not None:
        how = f"with curl -LO {path}" if url[1] in ("http", "https") else "with the tool for such addresses"
        return f"; nothing is downloaded: get the file first, {how}"
    if name == path and re.fullmatch(PYSERINI, name):
        return (
            "; it looks like a name of Pyserini, and nothing is downloaded: give a file of qrels or, as a run, the "
            "output of your system"
        )
    if name != path or re.fullmatch(DATASETS, name):
        return (
            f"; nothing is downloaded: write qrels first, with ir_datasets export {name} qrels > qrels.txt, or, in "
            f"Python, give ir_datasets.load({name!r}).qrels_iter(); a run is the output of your system"
        )
    return ""
