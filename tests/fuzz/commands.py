"""Files through every command, in this process: one clear line or a whole result, and its numbers are right.

Most files are valid in form and odd in content: ties, one query, levels of all kinds, nothing in common. Most options
are valid, too, so that most commands come to the end and their output can be looked at. The rest get broken files.
"""

import contextlib
import csv
import importlib.util
import io
import json
import os
import re
import signal
from collections import Counter
from itertools import groupby

import gradely
from gradely.cli.main import run
from gradely.measures.names import parse
from tests.fuzz.cases import Case
from tests.fuzz.content import LABELS, content, score
from tests.fuzz.formats import trec, write_table
from tests.fuzz.mutations import mutate

BROKEN = 0.25
"""the share of commands with a broken file, and at times a broken name of a measure"""
SECONDS = 60
"""no command on a small file takes the processor as long"""
WAIT = 900
"""nor does one wait as long, however busy the machine is"""
CODES = {"check": (0, 1, 2), "gate": (0, 1, 2), "trec_eval": (0, 1, 2, 4, 7, 255)}
MEASURES = [
    *("nDCG@10", "AP", "AP(rel=2)", "RR", "P@3", "ERR", "RBP(p=0.8)", "muAP", "eGAP", "bpref", "infAP", "Judged@5"),
    *("nDCG(gain=exp)", "IPrec", "Rprec", "NDCNG", "F(x=2)", "ndcg_cut_10", "nDCGphi", "G", "binG", "R@2", "Success@1"),
]
"""measures that take every policy of ties"""
BOUNDED = ["nDCG@10", "AP(rel=2)", "RR", "P@3", "ERR@2", "RBP(p=0.8)", "GAP", "xGAP", "binG", "R@2", "F1", "Rprec"]
"""those that have a range over the labels of unjudged documents"""
TREC_EVAL = ["official", "all_trec", "P.5", "ndcg.1=3", "map", "relstring", "utility.1,-1,0,0", "set_F.0.5"]
FORMS = ["table", "csv", "tsv", "markdown", "latex", "json"]
WEIGHTS = {"evaluate": 8, "check": 4, "trec_eval": 6, "explain": 4, "compare": 2, "ties": 2}
WEIGHTS |= dict.fromkeys(["plan", "gate", "users", "phi", "correlate", "pools"], 1)
WEIGHTS |= {"holes": 2, "judges": 2, "estimate": 2, "sample": 1, "overlap": 2, "suite": 1}
if all(map(importlib.util.find_spec, ("altair", "jinja2", "vl_convert"))):
    WEIGHTS["report"] = 0.02  # a page takes a second
POLICIES = ["expected", "trec", "order", "best", "worst", "random"]
RUNS = dict.fromkeys(("explain", "evaluate", "trec_eval", "check"), (1, 1))
RUNS |= {"phi": (0, 0), "gate": (2, 2), "holes": (1, 3), "estimate": (1, 3), "judges": (0, 3), "sample": (0, 2)}
"""the least and the greatest number of runs that a command gets; of others, two or three"""
SEVERAL, MANY = 10, 14
"""the least and the greatest number of queries where a command needs several of them"""
SCALES = {"users": [scale for scale in LABELS if sum(label > 0 for label in set(scale)) > 1]}
"""the labels of commands that need several levels of relevance"""


def make(rng):
    """Return a command line and its files."""
    command = rng.choices([*WEIGHTS], [*WEIGHTS.values()])[0]
    broken = rng.random() < BROKEN
    fewest, most = (SEVERAL, MANY) if command in ("estimate", "sample") else (1, 6)
    how = {"fewest_queries": fewest, "scales": SCALES.get(command, LABELS)}
    qrels, ranking = content(rng, most, whole=command == "trec_eval" and not broken, **how)
    options = _options(rng, command, broken=broken)
    runs = 0 if "--merge" in options else rng.randint(*RUNS.get(command, (2, 3)))
    rankings = [ranking, *(_other(rng, ranking) for _ in range(runs - 1))][:runs]
    tables = [(qrels, "qrels"), *((some, "run") for some in rankings)]
    if command == "overlap":
        tables = tables[1:]
    if command in ("judges", "estimate", "suite"):
        tables.insert(1, (_judge(rng, qrels, command), "qrels"))
    if command == "trec_eval":
        files = {kind: trec(table, kind) for table, kind in tables}
    else:
        written = (write_table(table, kind, rng, number) for number, (table, kind) in enumerate(tables))
        files = dict(written)
    names = [*files]
    if command == "gate":
        names.insert(2, "--baseline")
    elif command == "estimate":
        names = ["--judge", *names]
    elif command == "judges":
        names = ["--qrels", names[0], "--qrels", *names[1:]]
    elif command == "suite":
        files["suite.toml"] = _suite(*names).encode()
        names = ["suite.toml"]
    if broken:
        files |= {name: mutate(rng, files[name]) for name in rng.sample([*files], rng.randint(1, len(files)))}
    arguments = [command, *names]
    if command == "explain" or (command == "phi" and rng.random() < 0.5):
        arguments.append(rng.choice([*qrels]))
    return Case("commands", files, arguments + options)


def _other(rng, ranking):
    """Return another run over the same documents."""
    levels = rng.choice([1, 2, 5, 1000])
    return {query: {doc: score(rng, levels) for doc in docs} for query, docs in ranking.items()}


def _judge(rng, qrels, command):
    """Return the labels of another judge, or of people, who mostly agree; people judged some of the queries."""
    labels = [label for docs in qrels.values() for label in docs.values()]
    kept = [query for query in qrels if command != "estimate" or rng.random() < 0.7] or [*qrels]
    return {
        query: {doc: label if rng.random() < 0.7 else rng.choice(labels) for doc, label in qrels[query].items()}
        for query in kept
    }


def _suite(first, second, *runs):
    """Return a suite of two collections with the same runs."""
    systems = "".join(f"runs.s{number} = {json.dumps(name)}\n" for number, name in enumerate(runs))
    parts = (f"[{name}]\nqrels = {json.dumps(qrels)}\n{systems}" for name, qrels in (("one", first), ("two", second)))
    return "".join(parts)


OVERLAPS = ["RBO", "RBO(p=0.5, ties=a)", "RBO(score=min)@3", "tau", "tau_AP", "Jaccard@5"]
BESIDE = {
    "holes": (
        [["--judge", "3"], ["--simulate"], [], []],
        [["--depth", "2"], ["--top", "2.5"], ["--labels", "0,1,2"], []],
    ),
    "judges": ([["--correction", "bh"], []],),
    "estimate": ([["--for", "these"], ["--slope", "1"], []], [["--alpha", "0.1"], []]),
    "sample": ([["-n", "5"], ["-n", "6"]], [["--depth", "1"], []]),
    "overlap": ([["--depth", "3"], ["--by-query"], []],),
    "suite": ([["--baseline", "s0"], ["--family", "all"], []],),
}
"""options that commands have besides, one of each list"""


def _options(rng, command, *, broken):
    if command == "trec_eval":
        flags = rng.sample(["-q", "-c", "-c", "-n", "-J", "-l2", "-M3", "--compat=9"], rng.randint(0, 3))
        flags += ["-Rqrels_jg"] if broken and rng.random() < 0.2 else []
        return flags + [f"-m{_name(rng, TREC_EVAL, broken=broken)}" for _ in range(rng.randint(0, 2))]
    if command == "check":
        return []
    if command == "report":
        return ["-o", "out"]
    if command == "judges" and rng.random() < 0.25:
        return ["--merge", rng.choice(["mean", "median", "majority"])]
    options = ["--format", rng.choice(FORMS)] if command != "gate" else []
    options += ["-o", "out"] if command != "gate" and rng.random() < 0.3 else []
    options += [part for each in BESIDE.get(command, ()) for part in rng.choice(each)]
    if command == "overlap":
        return [*options, "-m", _name(rng, OVERLAPS, broken=broken)]
    if command == "sample":
        return [*options, "--seed", str(rng.randrange(9))]
    if command == "phi":
        return [*options, "--control", rng.choice(["paper", "code", "[(0, 0), (10, 1)]"])]
    policies = ["expected", "trec", "order", "random"] if command == "holes" else POLICIES
    options += ["--ties", rng.choice(policies)] if command not in ("ties", "users") else []
    if command != "ties":
        options += ["--seed", str(rng.randrange(9)), "--precision", rng.choice(["single", "double"])]
    options += ["--queries", rng.choice(["qrels", "both", "run"])] if command == "evaluate" else []
    options += ["-q"] if command == "evaluate" and rng.random() < 0.5 else []
    options += ["--repeat", "2", "--rates", "1.0,0.5"] if command == "pools" else []
    options += ["--difference", rng.choice(["0.1", "1e-300", "1"])] if command == "plan" and rng.random() < 0.5 else []
    names = {"users": ["eGAP", "GAP"], "holes": BOUNDED}.get(command, MEASURES)
    several = rng.randint(1, 3) if command in ("evaluate", "compare", "correlate") else 1
    return [*options, *(part for _ in range(several) for part in ("-m", _name(rng, names, broken=broken)))]


def _name(rng, names, *, broken):
    """Return the name of a measure; with broken files, at times a broken one."""
    name = rng.choice(names)
    if not broken or rng.random() < 0.8:
        return name
    return mutate(rng, name.encode()).decode(errors="replace").replace("\x00", "")[:400]


def check(case):
    """Run the command; return what was done. The folder must hold nothing but the input, and a whole output."""
    for name, text in case.files.items():
        with open(name, "wb") as file:
            file.write(text)
    before = set(os.listdir("."))
    code, out, err = outcome(case.arguments)
    command = case.arguments[0]
    after = set(os.listdir("."))
    try:
        assert code in CODES.get(command, (0, 2)), f"exit code: {code}"
        assert err.replace("\n", "").isprintable(), f"errors steer the terminal: {err!r}"
        if code and not (command in ("check", "gate") and code == 1):
            assert err.count("\n") == 1 and len(err) <= 301, f"no clear line: {err!r}"
            assert not out, f"output besides an error: {out[:200]!r}"
            assert after == before, f"files left behind: {after - before}"
        else:
            assert after - before <= {"out"}, f"files left behind: {after - before}"
        for name, text in case.files.items():
            with open(name, "rb") as file:
                assert file.read() == text, f"changed input: {name}"
        through = code == 0 or (command in ("check", "gate") and code == 1)
        numbers = look_at(case, out) if through else 0
    finally:
        for name in after:
            os.unlink(name)
    counts = {f"{command} through": int(through), f"{command} in all": 1}
    return Counter(inputs=len(case.files), commands=1, refused=int(not through), numbers=numbers, **counts)


def look_at(case, out):
    """Read the output as others would: JSON that parses, rows as wide as their header, numbers that are numbers.

    Values of `evaluate` and `explain` are those of the Python functions; return how many were compared.
    """
    command, options = case.arguments[0], case.arguments[1:]
    form = option(options, "--format")
    if "out" in options and os.path.exists("out"):
        with open("out", "rb") as file:
            out = file.read()
    text = out.decode()
    quiet = "-n" in options or "-mrelstring" in options  # trec_eval, without means, or with what has none
    assert text.strip() or command == "report" or quiet, "no output"
    if form == "json":
        return compare(case, json.loads(text, parse_constant=refuse_constant))
    if form in ("csv", "tsv"):
        rows = list(csv.reader(io.StringIO(text), delimiter="," if form == "csv" else "\t"))
        assert len({len(row) for row in rows}) == 1, f"columns: {text[:200]!r}"
        assert not [cell for row in rows for cell in row if cell.lower() in ("nan", "inf", "-inf")], "not finite"
    if form == "markdown":
        for is_table, lines in groupby(text.splitlines(), key=lambda line: line.startswith("|")):
            widths = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
            assert not is_table or len(widths) == 1, f"columns: {text[:200]!r}"
    return 0


def option(options, name):
    """Return what is given for an option; None where it is not."""
    return options[options.index(name) + 1] if name in options else None


def refuse_constant(name):
    raise AssertionError(f"not finite: {name}")


def compare(case, content):
    """Compare values of a command with those of the Python function; return how many there are."""
    command, *options = case.arguments
    if command not in ("evaluate", "explain") or not set(case.files) <= set(options):
        return 0
    qrels, ranking = case.files
    how = {"ties": option(options, "--ties"), "seed": int(option(options, "--seed"))}
    how |= {"precision": option(options, "--precision"), "queries": option(options, "--queries") or "qrels"}
    names = [options[i + 1] for i, name in enumerate(options) if name == "-m"]
    # the command shows a measure once, whatever its names; the function keeps each name
    names = [name for i, name in enumerate(names) if parse(name) not in map(parse, names[:i])]
    scores = gradely.evaluate(qrels, ranking, names, **how)
    if command == "explain":
        values, told = scores.query(content["query"]), {content["measure"]: content["value"]}
        assert all(abs(values[name] - told[name]) <= 1e-9 * max(1, abs(values[name])) for name in told), "other value"
        return 1
    assert content["runs"][0]["mean"] == scores.mean(), "other means"
    queries = content["runs"][0].get("queries")
    assert queries is None or queries == scores.per_query(), "other values of queries"
    return len(scores.measures) * (1 + (len(scores.queries) if queries else 0))


def outcome(arguments):
    """Return exit code, output and errors of a command; one that hangs raises."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _alarm():
        code = run(list(arguments))
        out.flush(), err.flush()
    return code, out.buffer.getvalue(), err.buffer.getvalue().decode()


@contextlib.contextmanager
def _alarm():
    def late(*_):
        raise AssertionError(f"hangs: more than {SECONDS} s of the processor, or {WAIT} s in all")

    signal.signal(signal.SIGALRM, late)
    signal.signal(signal.SIGPROF, late)
    signal.alarm(WAIT)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
