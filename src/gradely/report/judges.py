"""The page about judges: the answer, runs by judge, pairs that depend on the judge, and agreement."""

from typing import TYPE_CHECKING

from gradely.judgments.judge_charts import agreement_chart, runs_chart
from gradely.report.page import Chart, chart, labels
from gradely.report.systems import Origin, Part, page_of_parts
from gradely.tables import count_of

if TYPE_CHECKING:
    from gradely.judgments.judges import Judges


def judges_page(judges: "Judges", title: str, command: str) -> str:
    """Return the page about judges."""
    names = labels(judges.names)
    charts: dict[str, Chart] = {}
    parts = _about_runs(judges, names, charts) if judges.runs is not None else []
    words = "Cohen’s κ of each pair of judges; darker: they agree more often; a dash: undefined."
    charts["agreement"] = chart(agreement_chart(judges, names), words, still=True)
    tables = {"Cohen’s κ": judges.kappa_table(), "Every pair of judges": judges.pairs_of_judges_table()}
    if len(judges.names) == 2:
        tables["Labels"] = judges.confusion(*judges.names)
    text = "κ is 0 if two judges agree as often as by chance, and 1 if they agree on every document."
    parts.append(Part("agreement", "Agreement of the judges", text, tables, ("agreement",)))
    sizes = [count_of(len(judges.names), "judge"), count_of(len(judges.together.docs), "document")]
    sizes.append(count_of(len(judges.together.queries), "query"))
    if judges.runs is not None:
        sizes.append(count_of(len(judges.runs.names), "run"))
    notes = [str(note) for note in judges.notes]
    caption = "; ".join(judges.remarks())
    return page_of_parts(
        title, f"{', '.join(sizes)}.", [judges.summary()], parts, charts, notes, Origin(caption, command)
    )


def _about_runs(judges: "Judges", names: list[str], charts: dict[str, Chart]) -> list[Part]:
    """Return the parts about runs, and add their charts to `charts`."""
    runs = judges.runs
    assert runs is not None
    first = next(iter(runs.measures))
    words = f"{first} of each run by each judge, and the mean over all judges."
    charts["runs"] = chart(runs_chart(judges, names, labels(runs.names)), words, still=True)
    text = (
        "The mean over all judges, with its interval for other queries and other judges, and the mean by each judge; "
        "the best value of each column is bold."
    )
    tables = {f"Runs by {measure}": judges.leaderboard(m) for m, measure in enumerate(runs.measures)}
    parts = [Part("leaderboard", "Runs by judge", text, tables, ("runs",))]
    if len(runs.names) > 1:
        text = f"How similarly each pair of judges ranks the runs by {first}: 1 is the same order, −1 the reverse."
        parts.append(Part("order", "Order of the runs", text, {"Order of the runs": judges.order_table(every=True)}))
    if judges.dependent_pairs(first):
        text = (
            f"Pairs of runs whose order or significance by {first} depends on the judge: the mean difference over "
            "judges, the smallest and largest difference by a single judge, and the numbers of judges by whom each run "
            "is better, and significantly better."
        )
        parts.append(Part("pairs", "What depends on the judge", text, {"Pairs": judges.pairs_table(most=None)}))
    return parts
