"""Mutated files through every command, in this process: one clear line or a result, and nothing half-written."""

import contextlib
import importlib.util
import io
import os
import signal
from collections import Counter

from gradely.cli.main import run
from tests.fuzz.cases import Case
from tests.fuzz.content import content
from tests.fuzz.formats import write_table
from tests.fuzz.mutations import mutate

SECONDS = 60
"""no command on a small file takes the processor as long"""
WAIT = 900
"""nor does one wait as long, however busy the machine is"""
CODES = {"check": (0, 1, 2), "trec_eval": (0, 1, 2, 4, 7, 255)}
MEASURES = [
    *("nDCG@10", "AP", "AP(rel=2)", "RR", "P@3", "ERR", "RBP(p=0.8)", "muAP", "GAP", "xGAP", "eGAP", "bpref", "infAP"),
    *("nDCG(gain=exp)", "IPrec", "Judged@5", "Rprec", "all", "NDCNG", "F(x=2)", "ndcg_cut_10", "nDCGphi", "G", "binG"),
]
TREC_EVAL = ["official", "all_trec", "P.5", "ndcg.1=3", "qrels_jg", "map", "relstring", "utility.1,-1,0,0", "set_F.0.5"]
FORMS = ["table", "csv", "tsv", "markdown", "latex", "json"]
WEIGHTS = {"evaluate": 8, "check": 5, "trec_eval": 6, "explain": 4, "compare": 2, "ties": 2, "correlate": 1, "pools": 1}
if all(map(importlib.util.find_spec, ("altair", "jinja2", "scipy", "vl_convert"))):
    WEIGHTS["report"] = 0.02  # a page takes a second
POLICIES = ["expected", "trec", "order", "best", "worst", "random"]


def make(rng):
    """Return a command line and its files, at least one of them broken."""
    command = rng.choices([*WEIGHTS], [*WEIGHTS.values()])[0]
    qrels, ranking = content(rng)
    runs = 1 if command in ("explain", "evaluate", "trec_eval", "check") else rng.randint(2, 3)
    named = [write_table(qrels, "qrels", rng), *(write_table(ranking, "run", rng) for _ in range(runs))]
    files = dict(named)
    broken = rng.sample([*files], rng.randint(1, len(files)))
    files |= {name: mutate(rng, files[name]) for name in broken}
    arguments = [command, *dict.fromkeys(name for name, _ in named)]
    if command == "explain":
        arguments.append(rng.choice([*qrels, "nowhere"]))
    return Case("commands", files, arguments + _options(rng, command))


def _options(rng, command):
    if command == "trec_eval":
        flags = rng.sample(["-q", "-c", "-n", "-J", "-l2", "-M3", "--compat=9", "-Rqrels_jg"], rng.randint(0, 3))
        return flags + [f"-m{_name(rng, TREC_EVAL)}" for _ in range(rng.randint(0, 2))]
    if command == "check":
        return []
    if command == "report":
        return ["-o", "out"]
    options = ["--ties", rng.choice(POLICIES), "--format", rng.choice(FORMS)]
    options += ["--feature", rng.choice("123")] if rng.random() < 0.1 else []
    options += ["-o", "out"] if rng.random() < 0.3 else []
    options += ["--seed", str(rng.randrange(9)), "--precision", rng.choice(["single", "double"])]
    options += ["--queries", rng.choice(["qrels", "both", "run"])] if command == "evaluate" else []
    options += ["-q"] if command == "evaluate" and rng.random() < 0.5 else []
    options += ["--repeat", "2", "--rates", "1.0,0.5"] if command == "pools" else []
    return [*options, "-m", _name(rng, MEASURES)]


def _name(rng, names):
    """Return the name of a measure, at times a broken one."""
    name = rng.choice(names)
    if rng.random() < 0.85:
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
        if code and not (command == "check" and code == 1):
            assert err.count("\n") == 1 and len(err) <= 301, f"no clear line: {err!r}"
            assert not out, f"output besides an error: {out[:200]!r}"
            assert after == before, f"files left behind: {after - before}"
        else:
            assert after - before <= {"out"}, f"files left behind: {after - before}"
        for name, text in case.files.items():
            with open(name, "rb") as file:
                assert file.read() == text, f"changed input: {name}"
    finally:
        for name in after:
            os.unlink(name)
    return Counter(inputs=len(case.files), commands=1, refused=int(code != 0))


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
