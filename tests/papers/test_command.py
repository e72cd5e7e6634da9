"""The papers' experiments: the list, what a run leaves, and what is said where something is missing."""

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradely import InputError, read_qrels
from gradely.cli.main import run
from gradely.measures.names import parse
from gradely.tables import Table
from gradely_papers import MODULES, PAPERS, experiments, items, misprints, reproduce
from gradely_papers.documents import document, list_claims
from gradely_papers.experiment import THEOREM, Assessment, Claim, Experiment, Library, Observation, Outcome, Sheet
from gradely_papers.index import find_places, places_of
from gradely_papers.results import ROWS, count, files, read_record
from gradely_papers.verdicts import decide


def test_the_list_has_every_experiment_once_on_one_screen(capfd):
    assert run(["papers"]) == 0
    lines = capfd.readouterr().out.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("name")) + 2
    listed = [line.split()[0] for line in lines[first : first + len(experiments())]]
    assert listed == list(experiments()) and len(set(listed)) == len(listed) >= len(MODULES)
    assert all(each.paper in PAPERS for each in experiments().values())
    assert len(lines) <= 60 and any(line.startswith("all ") for line in lines)


def test_a_run_leaves_numbers_figures_and_a_page(tmp_path, capfd):
    assert run(["papers", "run", "f14-limits", "--out", str(tmp_path), "--seed", "3"]) == 0
    folder = tmp_path / "f14-limits"
    names = {path.name for path in folder.iterdir()}
    assert names == {"index.html", "claims.csv", "limits.csv", "limits.svg", "limits.png", "probabilities.csv"}
    rows = list(csv.DictReader(io.StringIO((folder / "claims.csv").read_text())))
    assert [row["verdict"] for row in rows] == ["holds"] * 6 and all(row["criterion"] for row in rows)
    assert (folder / "limits.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "limits.svg").read_text().startswith("<svg")
    page = (folder / "index.html").read_text()
    assert "seed 3" in page and page.count("✓&nbsp;holds") == 6 and "Theorems and constructions" in page
    out = capfd.readouterr().out
    assert "The probability that a" in out and out.rstrip().splitlines()[-1].split() == ["F14", *"0000066"]


def test_it_is_the_same_every_time():
    made = [files(each, reproduce("f14-limits"), 0) for each in [experiments()["f14-limits"]] * 2]
    assert made[0] == made[1]


def test_tables_are_frames_too():
    sheet = reproduce("f14-limits").sheets["probabilities"]
    assert sheet.table.to_frame("polars")["here"].to_list() == pytest.approx(
        [1 / 12, 1 / 6, 1 / 2, 1 / 22, 6 / 11, 10 / 11, 10 / 11]
    )


def outcome(rows=1, text="plain"):
    table = Table(["name", "value"], [[text, i / 3] for i in range(rows)])
    claim = Claim("x", "table 0", text, "1", text, lambda evidence: decide(holds=False, here=text))
    tested = [EXPERIMENT.assess(claim, verdict) for verdict in claim.test(None)]
    return Outcome(text, None, {"numbers": Sheet(text, table)}, {}, [Observation(text, text)], tested)


EXPERIMENT = Experiment(
    "f14-x", "table 0", "nothing", "nothing", lambda library, seed, progress: outcome(), (), needs=("some/folder",)
)


def test_a_claim_is_tested_on_the_evidence_of_the_work():
    claim = Claim("x", "table 0", "It is 3.", "3", "3 comes out", lambda evidence: decide(evidence == 3, str(evidence)))
    for evidence, word in ((3, "holds"), (4, "differs")):
        made = EXPERIMENT._replace(
            claims=(claim,), work=lambda library, seed, progress, e=evidence: outcome()._replace(evidence=e)
        )
        (tested,) = made.run(Library(), 0, None).claims
        assert (tested.verdict, tested.here, tested.claim) == (word, str(evidence), "It is 3.")


def test_everything_is_found_by_the_papers_own_numbers(capfd):
    """No claim, table, figure or misprint is lost, and each place leads to what is here of it."""
    entries = read_record()
    for paper in PAPERS:
        places = find_places(paper, entries)
        things = [thing for found in places.values() for thing in found]
        own = [each for each in experiments().values() if each.paper == paper]
        said = {claim.says for each in own for claim in each.claims}
        assert {thing.text for thing in things if thing.claim} == said
        wheres = [where for each in own for where, _ in each.files]
        wheres += [item.where for item in (*items(paper), *misprints(paper))]
        assert wheres and all(set(places_of(where)) & set(places) for where in wheres)
        assert [name for name in places if name.startswith("§")] == sorted(
            (name for name in places if name.startswith("§")),
            key=lambda name: [int(n) for n in name[1:].split(".")],
        )
    assert run(["papers", "claims", "f14", "Table", "2"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("F14 table 2: f14-tau: tau, tau-paper\n") and "τ with nDCG rises with g_1." in out
    assert "figures 1 and 2" not in out
    assert run(["papers", "claims", "f14", "eq", "5"]) == 0 and capfd.readouterr().out == "F14 eq. (5): xGAP: xGAP\n"
    assert run(["papers", "claims", "s11", "section", "3"]) == 0
    out = capfd.readouterr().out
    assert "S11 §3.1: misprint: “AP^t = 0.3 - 0.0 = 0.3”; correct: d^t = 0.3" in out and "S11 §3.2: scales" in out
    assert out.rstrip().splitlines()[-1].split() == ["S11", *"0000022"], "both theorems, and no row for all papers"
    assert run(["papers", "claims", "f14", "figure", "7"]) == 2
    assert "no entry for 'figure 7' of F14; the places are abstract, §3," in capfd.readouterr().err
    assert run(["papers", "claims", "f14", "figure", "1", "--format", "csv"]) == 2


def test_definitions_are_written_as_measures_are():
    """Each is something that can be typed: a measure, a relevance function or a command."""
    for paper in PAPERS:
        for item in items(paper):
            names = [name for name in item.here.split("`")[1::2] if "=" not in name.partition("(")[0]]
            assert names or "relevance=" in item.here or item.here == "not drawn again"
            for name in names:
                typed = name.replace("=t)", "=2)").replace("=k)", "=2)")
                assert name.startswith("gradely ") or str(parse(typed)) == typed


def test_the_record_speaks_of_every_claim_and_of_nothing_else():
    """The recorded verdicts are those of the claims as they stand; quick experiments give them again, word by word."""
    entries = read_record()
    claims = {(name, *claim[1:5], *claim[6:8]) for name, each in experiments().items() for claim in each.claims}
    assert {(e.experiment, e.where, e.claim, e.printed, e.criterion, e.quote, e.kind) for e in entries} == claims
    quick = ("s11-tables", "f14-limits", "m08-enumeration", "m16-days", "m16-synthetic")
    made = [(experiments()[name], reproduce(name)) for name in quick]
    assert [row for _, outcome in made for row in outcome.claims] == [
        entry for entry in entries if entry.experiment in quick
    ]
    for experiment, outcome in made:
        named = {file for _, names in experiment.files for file in names.split(", ")}
        assert named == {*outcome.sheets, *outcome.figures}, "the index names the files that a run leaves"


SAID = Assessment("S11", "s11-x", "claim", "table 1", "It is so.", "", "1", "so it is", "a", "2", "holds")


def test_a_claim_has_one_row_with_its_criterion_and_counts_of_verdicts():
    entries = [SAID, SAID._replace(data="b", verdict="differs"), SAID._replace(experiment="s11-y", data="c")]
    other = SAID._replace(claim="It is not.", quote="not at all", verdict="undecided")
    rows = [line for line in list_claims([*entries, other]).splitlines() if line.startswith("| S11 ")]
    assert rows == [
        "| S11 table 1 | It is so. | so it is | [2 ✓ 1 ≠](papers/s11.md#claim-1-table-1) | s11-x, s11-y |",
        "| S11 table 1 | It is not. (“not at all”) | so it is | [1 ?](papers/s11.md#claim-2-table-1) | s11-x |",
    ]


def test_theorems_are_listed_apart_and_never_counted_among_those_that_hold():
    theorem = SAID._replace(kind=THEOREM, claim="1 is 1.")
    assert count([SAID, theorem]).rows[-1] == ["S11", 1, 1, 0, 0, 0, 1, 1]
    untested = theorem._replace(data="b", verdict="cannot be tested")
    assert count([SAID, theorem, untested]).rows[-1][-2:] == [1, 1]
    assert count([SAID, theorem, theorem._replace(verdict="differs")]).rows[-1][-2:] == [1, 0]
    claims, theorems = list_claims([SAID, theorem]).split("### Theorems and constructions")
    assert "1 is 1." in theorems and "1 is 1." not in claims and "It is so." in claims


def test_the_record_is_shown_to_people_and_to_machines(capfd):
    assert run(["papers", "claims", "--format", "csv"]) == 0
    rows = list(csv.reader(io.StringIO(capfd.readouterr().out)))
    assert [Assessment(*row) for row in rows[1:]] == read_record()
    assert run(["papers", "claims", "m08", "--format", "markdown"]) == 0
    assert capfd.readouterr().out == document("M08", read_record())
    assert run(["papers", "claims", "m08", "--format", "md"]) == 0
    assert capfd.readouterr().out == document("M08", read_record())
    assert run(["papers", "claims", "M08"]) == 0
    out = capfd.readouterr().out
    assert "M08 §2" in out and "S11" not in out and "criterion:" in out and "Misprints in M08" in out
    assert max(map(len, out.splitlines())) <= 100


def test_a_page_of_a_paper_has_each_claim_once_and_each_set_of_data():
    page = document("S11", [SAID, SAID._replace(data="b"), SAID._replace(paper="F14", claim="Another.")])
    assert page.count("**It is so.**") == 1 and "| a | 2 | ✓ holds |" in page and "| b | 2 |" in page
    assert "### Claim 1: table 1\n" in page and "|  | [It is so.](#claim-1-table-1) | 2 ✓ |\n" in page
    assert "Another." not in page and "so it is" in page


def test_long_tables_are_cut_on_the_page_and_whole_in_the_file():
    made = files(EXPERIMENT, outcome(rows=ROWS + 7), 0)
    assert len(list(csv.reader(io.StringIO(made["numbers.csv"].decode())))) == ROWS + 8
    assert "7 more rows" in made["index.html"].decode()
    assert "more rows" not in files(EXPERIMENT, outcome(rows=ROWS), 0)["index.html"].decode()


def test_pages_escape_what_they_are_given():
    page = files(EXPERIMENT, outcome(text="<script>alert(1)</script>"), 0)["index.html"].decode()
    assert "<script>alert" not in page and "&lt;script&gt;" in page and "≠&nbsp;differs" in page


def test_all_leaves_an_overview(tmp_path, monkeypatch, capfd):
    claims = {
        name: Claim("x", "table 0", f"{name} is so.", "1", "it is so", lambda evidence: decide(holds=True, here="so"))
        for name in ("f14-one", "f14-two", "f14-three")
    }
    others = {name: EXPERIMENT._replace(name=name, needs=(), claims=(claims[name],)) for name in ("f14-one", "f14-two")}
    others["f14-three"] = EXPERIMENT._replace(
        name="f14-three", needs=("nowhere",), claims=(claims["f14-three"],), optional=True
    )
    monkeypatch.setattr("gradely_papers.command.experiments", lambda: others)
    others["f14-four"] = EXPERIMENT._replace(name="f14-four", needs=(), claims=(), libraries=("csv", "no_such_library"))
    assert run(["papers", "run", "all", "--out", str(tmp_path)]) == 0
    out = capfd.readouterr().out
    assert "f14-three is skipped: it needs nowhere\nf14-four is skipped: it needs no_such_library\n" in out
    page = (tmp_path / "index.html").read_text()
    assert 'href="f14-one/index.html"' in page and 'href="f14-two/index.html"' in page and "f14-three/" not in page
    rows = list(csv.DictReader(io.StringIO((tmp_path / "claims.csv").read_text())))
    assert [row["verdict"] for row in rows] == ["holds", "holds", "cannot be tested"]
    assert rows[2]["here"] == "it needs nowhere"
    assert out.rstrip().splitlines()[-1].split() == ["F14", *"3200100"]


def test_all_names_what_cannot_be_read_and_runs_the_others(tmp_path, monkeypatch, capfd):
    """A broken file makes its experiment fail where it is asked for by name, and be skipped among all."""
    (tmp_path / "data").mkdir()

    def break_down(library, seed, progress):
        read_qrels(library.folder)

    def divide(library, seed, progress):
        return 1 / seed

    claim = Claim("x", "table 0", "It is so.", "1", "it is so", lambda evidence: decide(holds=True, here="so"))
    every = {
        "f14-odd": EXPERIMENT._replace(name="f14-odd", needs=(), work=divide),
        "f14-bad": EXPERIMENT._replace(name="f14-bad", needs=(), claims=(claim,), work=break_down),
        "f14-lacks": EXPERIMENT._replace(name="f14-lacks", needs=("nowhere",)),
        "f14-good": EXPERIMENT._replace(name="f14-good", needs=(), claims=(claim,)),
    }
    monkeypatch.setattr("gradely_papers.experiments", lambda: every)
    monkeypatch.setattr("gradely_papers.command.experiments", lambda: every)
    where = ["--data", str(tmp_path / "data"), "--out", str(tmp_path / "out")]
    assert run(["papers", "run", "all", *where]) == 0
    out = capfd.readouterr().out
    assert "f14-lacks is skipped: it needs nowhere" in out and (tmp_path / "out" / "f14-good" / "index.html").exists()
    assert "f14-odd is skipped: ZeroDivisionError: division by zero\n" in out
    assert f"f14-bad is skipped: {tmp_path / 'data'}" in out and not (tmp_path / "out" / "f14-bad").exists()
    assert run(["papers", "run", "f14-bad", *where]) == 2
    assert capfd.readouterr().err.count("\n") == 1


def write_collection(folder, runs=8):
    """Write judgments of 11 documents, and runs that rank them in different orders."""
    (folder / "runs").mkdir(parents=True)
    (folder / "qrels.txt").write_text("".join(f"{q} 0 d{d} {d % 3}\n" for q in range(6) for d in range(11)))
    for i in range(runs):
        order = [(q, rank, (rank * (i + 2) + q) % 11) for q in range(6) for rank in range(11)]
        (folder / "runs" / f"r{i}").write_text("".join(f"{q} Q0 d{d} {rank} {-rank} r\n" for q, rank, d in order))


@pytest.mark.parametrize("broken", ["qrels.txt", "runs/r1"])
def test_a_collection_that_cannot_be_read_is_named_and_the_others_are_used(tmp_path, monkeypatch, broken):
    monkeypatch.chdir(tmp_path)  # errors cut long paths
    for name in ("good", "bad"):
        write_collection(tmp_path / "data" / name)
    (tmp_path / "data" / "bad" / broken).write_text("neither this nor that\n")
    outcome = reproduce("f14-power", Path("data"))
    assert list(outcome.skipped) == ["bad"] and broken in outcome.skipped["bad"]
    assert {row["collection"] for row in outcome.evidence} == {"good"}
    page = files(experiments()["f14-power"], outcome, 0)["index.html"].decode()
    assert "bad was skipped: " in page
    (tmp_path / "data" / "good" / broken).write_text("neither this nor that\n")
    with pytest.raises(InputError, match=f"no collection .*{broken}:1: "):
        reproduce("f14-power", Path("data"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["f14-limit"], "no experiment 'f14-limit': `gradely papers` lists them. Did you mean f14-limits?"),
        (
            ["f14-x"],
            "f14-x needs real data that is not in nowhere: some/folder; --data must name the folder that contains them",
        ),
        ([], "Missing argument 'NAME...'"),
    ],
)
def test_errors_say_what_to_do_and_nothing_is_written(tmp_path, monkeypatch, capfd, arguments, said):
    monkeypatch.chdir(tmp_path)
    known = experiments() | {"f14-x": EXPERIMENT}
    monkeypatch.setattr("gradely_papers.experiments", lambda: known)
    assert run(["papers", "run", *arguments, "--data", "nowhere"]) == 2
    err = capfd.readouterr().err
    assert said in err and err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(tmp_path, capfd):
    (tmp_path / "taken").write_text("")
    assert run(["papers", "run", "f14-limits", "--out", str(tmp_path / "taken" / "deeper")]) == 2
    assert "taken is a file; name a folder" in capfd.readouterr().err


@pytest.mark.parametrize("library", ["altair", "vl_convert", "jinja2"])
def test_a_missing_library_is_named_before_the_work(tmp_path, monkeypatch, capfd, library):
    monkeypatch.setitem(sys.modules, library, None)
    assert run(["papers", "run", "f14-limits", "--out", str(tmp_path / "out")]) == 2
    assert ": pip install " in capfd.readouterr().err
    assert not (tmp_path / "out").exists()


def test_experiments_are_offered_at_the_tab_key():
    asked = {"_GRADELY_COMPLETE": "bash_complete", "COMP_WORDS": "gradely papers run "}
    done = subprocess.run(
        [sys.executable, "-m", "gradely"], capture_output=True, text=True, check=True, env=os.environ | asked
    )
    assert not done.stderr and set(done.stdout.split()) == {f"plain,{name}" for name in [*experiments(), "all"]}


def test_a_seed_is_not_negative(capfd):
    assert run(["papers", "run", "s11-tables", "--seed", "-1"]) == 2
    err = capfd.readouterr().err
    assert err.count("\n") == 1 and "--seed" in err
