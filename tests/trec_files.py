"""Judgments and runs as TREC files, for tests of commands."""


def write_trec(folder, qrels, runs):
    """Write {name: qrels} to NAME.qrels and {name: run} to NAME.run; a run has scores, or its documents in order."""
    for name, judgments in qrels.items():
        lines = [f"{query} 0 {doc} {label}\n" for query, of in judgments.items() for doc, label in of.items()]
        (folder / f"{name}.qrels").write_text("".join(lines))
    for name, run in runs.items():
        scores = {q: of if isinstance(of, dict) else {d: -k for k, d in enumerate(of)} for q, of in run.items()}
        lines = [f"{query} Q0 {doc} 1 {score} x\n" for query, of in scores.items() for doc, score in of.items()]
        (folder / f"{name}.run").write_text("".join(lines))
