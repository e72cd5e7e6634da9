"""Beyond F14: a table of axioms for every measure, each cell a proof sketch or a smallest counterexample."""

from typing import Any

from gradely.comparison.charts import altair, draw, style
from gradely.data import Report
from gradely.tables import Table
from gradely_papers.axioms.proofs import PROOFS
from gradely_papers.axioms.search import AXIOMS, Answer, Search, rows
from gradely_papers.library import Library
from gradely_papers.outcome import Experiment, Figure, Observation, Outcome, Sheet

LONGEST, LACKING = 5, 1
SHOWN = {True: "✓", False: "✗"}


def search_axioms(progress: Report) -> dict[tuple[str, str], Answer]:
    """Return what is found by row and axiom."""
    search = Search(LONGEST, LACKING)
    answers: dict[tuple[str, str], Answer] = {}
    for i, axiom in enumerate(AXIOMS):
        answers |= {(row, axiom.name): cell for row, cell in search.answers(axiom).items()}
        progress((i + 1) / len(AXIOMS))
    return answers


def cells(answers: dict[tuple[str, str], Answer]) -> list[dict[str, Any]]:
    """Return one record per row and axiom: whether it holds, why, and among how many comparisons none failed."""
    return [
        {
            "measure": row,
            "axiom": axiom.name,
            "holds": SHOWN[answers[row, axiom.name].change is None],
            "why": reason(row, axiom.name, answers[row, axiom.name]),
            "comparisons": answers[row, axiom.name].of,
        }
        for row in rows()
        for axiom in AXIOMS
    ]


def reason(row: str, axiom: str, cell: Answer) -> str:
    """Return the counterexample, or else the proof."""
    return str(cell.change) if cell.change else PROOFS[row, axiom]


def observations(answers: dict[tuple[str, str], Answer]) -> list[Observation]:
    """Return what this project says of xGAP and of proofs."""
    falling = [f"{row}: {answers[row, 'up'].change}" for row in rows() if answers[row, "up"].change]
    refuted = [f"{row}: {axiom}" for (row, axiom) in PROOFS if answers[row, axiom].change]
    return [
        Observation("Which measures can fall when a better document moves up?", "; ".join(falling) or "none"),
        Observation("Which proofs does the search refute?", ", ".join(refuted) or "none"),
    ]


def summary(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one record per measure, one column per axiom."""
    table: dict[str, dict[str, Any]] = {}
    for record in records:
        table.setdefault(record["measure"], {"measure": record["measure"]})[record["axiom"]] = record["holds"]
    return list(table.values())


def chart(records: list[dict[str, Any]]) -> Any:
    """Return the table as a picture: one square per measure and axiom."""
    alt = altair()
    base = draw([{name: record[name] for name in ("measure", "axiom", "holds")} for record in records]).encode(
        x=alt.X("axiom:N", title=None, sort=None, axis=alt.Axis(orient="top", labelAngle=0)),
        y=alt.Y("measure:N", title=None, sort=None),
    )
    colour = alt.Color("holds:N", scale=alt.Scale(domain=["✓", "✗"], range=["#cfe8d5", "#f6c9a8"]), legend=None)
    marks = base.mark_text(fontSize=13, color="#1c2430").encode(text="holds:N")
    return style((base.mark_rect(stroke="white").encode(color=colour) + marks).properties(width=560, height=480))


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - no data, nothing at random
    """Search for counterexamples to every axiom, for every measure."""
    answers = search_axioms(progress)
    records = cells(answers)
    failing = sum(record["holds"] == SHOWN[False] for record in records)
    return Outcome(
        f"We measured every ranking of up to {LONGEST} documents, unjudged (-) or of grade 0 to 3, that lacks up to"
        f" {LACKING} judged one, in several settings of each measure, GAP, xGAP and eGAP for all g in steps of 0.1, and"
        f" looked for the smallest that breaks one of {len(AXIOMS)} axioms.",
        f"Of {len(records)} cells {failing} have a counterexample, the smallest there is; the others have a proof. xGAP"
        " falls when the only two relevant documents, of grade 1 at rank n and of grade 2 at rank n+1, are swapped, if"
        " g_1/(g_1+g_2) > 2/n.",
        answers,
        {
            "asked": Sheet(
                "The axioms", Table(["axiom", "what it asks"], [[record.name, record.text] for record in AXIOMS])
            ),
            "axioms": Sheet("Which axioms hold", Table.of(summary(records))),
            "reasons": Sheet("Why: a proof or the smallest counterexample", Table.of(records)),
        },
        {"axioms": Figure("✓: proved. ✗: there is a counterexample.", chart(records))},
        observations(answers),
    )


EXPERIMENT = Experiment(
    "f14-axioms",
    "beyond",
    "What every measure does when one thing changes",
    "The paper does not say whether its measures are monotone. xGAP is not.",
    run,
)
