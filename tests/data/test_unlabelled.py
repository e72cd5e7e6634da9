"""Judgments without labels are relevant documents, whatever they come as, and a note says so."""

import json
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gradely
from gradely import InputError

CLICKS = [("ann", "tea"), ("ann", "jam"), ("bob", "oil")]
RUN = {"ann": ["pie", "tea", "jam"], "bob": ["oil"]}


class Tuple(NamedTuple):
    user_id: str
    item_id: str


@dataclass
class Data:
    user_id: str
    item_id: str


def records(kind):
    """Return the clicks, one record each."""
    return [kind(user_id=user, item_id=item) for user, item in CLICKS]


def nested():
    """Return the clicks, one record per user."""
    return [{"query": "ann", "results": [{"id": "tea"}, {"id": "jam"}]}, {"query": "bob", "results": ["oil"]}]


def shapes(folder):
    """Yield the clicks in every shape that rows have."""
    frame = pl.DataFrame(records(dict))
    yield from (frame, frame.lazy(), frame.to_arrow(), frame.to_pandas())
    yield from (records(dict), records(Tuple), records(Data), nested())
    for name, content in (("rows", records(dict)), ("nested", nested())):
        (folder / f"{name}.json").write_text(json.dumps(content))
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in content))
        (folder / f"{name}-without-ending").write_text("".join(f"{json.dumps(record)}\n" for record in content))
        yield from (folder / f"{name}.json", folder / f"{name}.jsonl", folder / f"{name}-without-ending")
    frame.write_csv(folder / "rows.csv")
    frame.write_parquet(folder / "rows.parquet")
    yield from (folder / "rows.csv", folder / "rows.parquet")


def test_every_row_is_relevant_in_every_shape(tmp_path):
    values = set()
    for qrels in shapes(tmp_path):
        scores = gradely.evaluate(qrels, RUN, ["RR", "AP", "nDCG"])
        assert [note for note in scores.notes if "no label column: every row counts as relevant" in note.text], qrels
        values.add(json.dumps(scores.per_query()))
    assert len(values) == 1
    assert gradely.evaluate(tmp_path / "rows.jsonl", RUN, ["RR"]).per_query() == {
        "ann": {"RR": 0.5},
        "bob": {"RR": 1.0},
    }


def test_a_label_here_and_none_there_is_refused(tmp_path):
    bare, labelled = {"user_id": "ann", "item_id": "tea"}, {"user_id": "bob", "item_id": "oil", "label": 0}
    for first, second, found in ((bare, labelled, "a label"), (labelled, bare, "no")):
        (tmp_path / "mixed.jsonl").write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
        (tmp_path / "mixed.json").write_text(json.dumps([first, second]))
        for qrels in ([first, second], tmp_path / "mixed.jsonl", tmp_path / "mixed.json"):
            with pytest.raises(InputError, match=f"2.* has {found}"):
                gradely.evaluate(qrels, RUN, ["RR"])


def test_more_keys_do_no_harm():
    rows = [{"user_id": "ann", "item_id": "tea"}, {"user_id": "bob", "item_id": "oil", "when": 7}]
    assert gradely.evaluate(rows, RUN, ["RR"]).mean() == {"RR": 0.75}


@pytest.mark.parametrize("cells", [("3", "0", "1"), (3, 0, 1), ("3", "", "1")])
def test_numbers_under_another_name_may_be_labels_also_as_text(tmp_path, cells):
    rows = [{"user_id": user, "item_id": item, "stars": cell} for (user, item), cell in zip(CLICKS, cells, strict=True)]
    frame = pl.DataFrame(rows)
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    for qrels in (frame, frame.lazy(), frame.to_arrow(), frame.to_pandas(), *tmp_path.iterdir()):
        with pytest.raises(InputError, match=r"no label column; 'stars' holds numbers"):
            gradely.evaluate(qrels, RUN, ["RR"])
    words = frame.with_columns(pl.Series("stars", ["3", "none", "1"]))
    for qrels in (words, words.to_pandas()):
        assert gradely.evaluate(qrels, RUN, ["RR"]).mean() == {"RR": 0.75}


def test_the_note_names_columns_that_may_hold_labels_and_no_rank_of_ours():
    rows = [{"user_id": "ann", "item_id": "tea", "year": 2020}]
    for qrels, hint in (
        (rows, "; if 'year' holds labels, pass"),
        ([rows[0] | {"day": 7}], "; if one of 'year', 'day' holds labels, pass"),
        (nested(), "with label 1"),
        ([{"query_id": "ann", "query": "something to drink", "doc_id": "tea"}], "with label 1"),
    ):
        (note,) = [note.text for note in gradely.evaluate(qrels, RUN, ["RR"]).notes if "no label column" in note.text]
        assert hint in note and "'rank'" not in note and "'query'" not in note


def test_a_run_must_have_scores(tmp_path):
    (tmp_path / "run.jsonl").write_text('{"user_id": "ann", "item_id": "tea"}\n')
    for run in (
        records(dict),
        pd.DataFrame(records(dict)),
        pa.Table.from_pylist(records(dict)),
        tmp_path / "run.jsonl",
    ):
        with pytest.raises(InputError, match="no score column"):
            gradely.evaluate({"ann": ["tea"]}, run, ["RR"])


def unlabelled(qrels):
    return [note.text for note in gradely.evaluate(qrels, RUN, ["RR"]).notes if "has no labels" in note.text]


def test_lists_of_documents_are_relevant_documents_and_a_note_says_so(tmp_path):
    lists = {"ann": ["tea", "jam"], "bob": ["oil"]}
    (tmp_path / "qrels.json").write_text(json.dumps(lists))
    (tmp_path / "qrels.jsonl").write_text("".join(json.dumps({user: lists[user]}) + "\n" for user in lists))
    text = "every document of a list counts as relevant, with label 1; if the lists are rankings, they are a run"
    for qrels, name in ((lists, "qrels"), *((path, str(path)) for path in tmp_path.iterdir())):
        (note,) = unlabelled(qrels)
        assert note == f"{name} has no labels: {text}, and qrels come first"
    (note,) = unlabelled(lists | {"ann": {"tea": 1, "jam": 2}})
    assert note.startswith("qrels has no labels for 1 of 2 queries: every document of a list")
    (finding,) = [one for one in gradely.check(lists, RUN) if one.kind == "warning"]
    assert finding.about == "qrels" and finding.text.startswith("has no labels: every document")


def test_sets_and_labels_are_no_ranking():
    assert unlabelled({"ann": {"tea", "jam"}, "bob": {"oil"}}) == unlabelled({"ann": {"tea": 1}}) == []


JUDGED = [("ann", "tea", 2), ("ann", "jam", 0), ("bob", "oil", 1)]


def judged(folder, name, cells):
    """Yield judgments whose labels stand in a column of another name, in every shape that rows have."""
    rows = [{"user_id": user, "item_id": item, name: cells[label]} for user, item, label in JUDGED]
    yield from (rows, pd.DataFrame(rows), pl.DataFrame(rows))
    pl.DataFrame(rows).write_parquet(folder / "rows.parquet")
    pd.DataFrame(rows).to_csv(folder / "rows.csv", index=False)
    (folder / "rows.json").write_text(json.dumps(rows))
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    yield from sorted(folder.iterdir())


@pytest.mark.parametrize(
    ("name", "cells", "found"),
    [
        ("answer", ("no", "yes", "yes"), "'yes', 'no'"),
        ("choice", ("Not relevant", "Relevant", "Highly relevant"), "'Highly relevant', 'Not relevant'"),
        ("esci_label", "ISE", "'E', 'I'"),  # as in Amazon's data set, which has numbers beside it
    ],
)
def test_labels_in_words_under_another_name_are_an_error(tmp_path, name, cells, found):
    says = (
        rf"no label column; '{name}' may hold labels: write numbers in place of {found}, and pass "
        rf"columns=\{{'label': '{name}'\}} \(--columns label={name}\); if every row is relevant, --columns label="
    )
    for qrels in judged(tmp_path, name, cells):
        with pytest.raises(InputError, match=says):
            gradely.evaluate(qrels, RUN, ["RR"])
        assert gradely.evaluate(qrels, RUN, ["RR"], columns={"label": None}).mean() == {"RR": 0.75}


def test_words_and_lists_are_named_before_numbers(tmp_path):
    rows = [{"user_id": u, "item_id": i, "large": 1, "judgment": "ABC"[label], "when": "x"} for u, i, label in JUDGED]
    with pytest.raises(InputError, match="'judgment' may hold labels: write numbers in place of 'C', 'A'"):
        gradely.evaluate(rows, RUN, ["RR"])
    lists = [{"user_id": u, "item_id": i, "relevance.responses": [label]} for u, i, label in JUDGED]
    (tmp_path / "argilla.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in lists))
    for qrels in (lists, pd.DataFrame(lists), tmp_path / "argilla.jsonl"):
        with pytest.raises(
            InputError, match=r"'relevance.responses' may hold labels: write numbers in place of '\[2\]'"
        ):
            gradely.evaluate(qrels, RUN, ["RR"])


def test_numbers_of_later_records_may_be_labels(tmp_path):
    rows = [{"user_id": u, "item_id": i, "judge": label or None} for u, i, label in reversed(JUDGED)]
    rows[0]["judge"] = None
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for qrels in (rows, tmp_path / "rows.json", tmp_path / "rows.jsonl"):
        with pytest.raises(InputError, match="no label column; 'judge' holds numbers"):
            gradely.evaluate(qrels, RUN, ["RR"])


def test_one_word_that_is_a_number_or_a_verdict_is_no_label(tmp_path):
    rows = [
        {"user_id": u, "item_id": i, "title": title}
        for (u, i), title in zip(CLICKS, ("1984", "yes", "It"), strict=True)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    pd.DataFrame(rows).to_csv(tmp_path / "rows.csv", index=False)
    for qrels in (rows, pd.DataFrame(rows), tmp_path / "rows.jsonl", tmp_path / "rows.csv"):
        assert gradely.evaluate(qrels, RUN, ["RR"]).mean() == {"RR": 0.75}
