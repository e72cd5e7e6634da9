"""The package as a whole: instant to import, all public names there, nothing heavy unless asked."""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import pytest

import gradely
from gradely.install import install_extra, install_papers
from gradely.measures import EXPECTED

ROOT = Path(__file__).parents[2]
HEAVY = (
    "scipy",
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "narwhals",
    "torch",
    "jax",
    "rich",
    "altair",
    "jinja2",
    "click",
)


def modules_after(code):
    """Return the modules that are loaded after some code, in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_import_loads_next_to_nothing():
    assert not {"numpy", *HEAVY} & modules_after("import gradely")


def test_evaluating_dicts_loads_nothing_but_numpy():
    loaded = modules_after("import gradely; gradely.evaluate({'q': {'a': 1}}, {'q': ['a']}, ['nDCG'])")
    assert not set(HEAVY) & loaded
    unused = {"gradely.measures.subtopics", "gradely.measures.gap", "gradely.install", "gradely.data.locate.scattered"}
    assert not unused & loaded


def test_checking_files_loads_nothing_for_dataframes(demo):
    loaded = modules_after(f"import gradely; gradely.check({str(demo / 'qrels.txt')!r}, {str(demo / 'dense.run')!r})")
    assert not {*HEAVY, "gradely.data.read.frames"} & loaded


def test_evaluating_arrays_of_numpy_loads_nothing_for_other_libraries():
    arrays = "numpy.array([[2.0, 1.0]]), numpy.array([[0, 1]])"
    assert "array_api_compat" not in modules_after(
        f"import gradely, numpy; gradely.evaluate_arrays({arrays}, ['nDCG'])"
    )


@pytest.mark.parametrize("command", ["['--version']", "['--help']"])
def test_the_command_line_loads_numpy_only_to_compute(command):
    assert "numpy" not in modules_after(f"from gradely.cli.main import run; run({command})")


@pytest.mark.parametrize("arguments", [["--help"], ["evaluate", "--help"], ["measures"]])
def test_installed_distributions_are_searched_for_the_papers_alone(arguments):
    """The search takes longer than the rest of `gradely --help`."""
    assert "importlib.metadata" not in modules_after(f"from gradely.cli.main import run; run({arguments})")


WITHOUT_PAPERS = """\
import sys
from importlib import metadata
metadata.entry_points = lambda **_: ()
from gradely.cli.main import run
sys.exit(run({arguments}))
"""


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--format", "csv"], ["run", "all", "--seed", "3"]])
def test_where_the_papers_are_not_installed_one_line_says_how_to_install_them(arguments):
    code = WITHOUT_PAPERS.format(arguments=["papers", *arguments])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"gradely: the experiments of the papers are not installed: {install_papers()}\n"


def test_the_help_lists_the_papers_where_they_are_not_installed():
    code = WITHOUT_PAPERS.format(arguments=["--help"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.search("^  papers  +\\w", done.stdout, flags=re.MULTILINE)


def test_the_public_names_and_nothing_else_are_shown():
    """In a process of its own, after much was loaded."""
    code = "import gradely, gradely.cli.main; gradely.evaluate({'q': {'a': 1}}, {'q': ['a']}); print(dir(gradely))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = {name for name in ast.literal_eval(done.stdout) if not name.startswith("__")}
    assert names == set(gradely.__all__)
    assert {measure.__name__ for measure in gradely.ALL} < names
    assert not {"evaluation", "kernel", "annotations", "Any", "import_module"} & names


def test_every_public_name_is_there_and_documented():
    for name in gradely.__all__:
        assert name == "ALL" or inspect.getdoc(getattr(gradely, name)), name


def test_a_star_imports_the_public_names():
    names = {}
    exec("from gradely import *", names)
    assert set(gradely.__all__) <= set(names)


def test_what_functions_return_is_public():
    """And so are the parts of it, as in list[Finding]."""
    for name in gradely.__all__:
        value = getattr(gradely, name)
        if inspect.isfunction(value):
            returned = inspect.signature(value).return_annotation
            for kind in (returned, *get_args(returned)):
                if getattr(kind, "__module__", "").startswith("gradely"):
                    assert kind.__name__ in gradely.__all__, (name, kind)


def test_the_package_says_that_it_is_typed():
    assert (Path(gradely.__file__).parent / "py.typed").exists()
    assert (Path(gradely.__file__).parent / "__init__.pyi").exists()


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gradely.nothing


def test_names_stay_functions_after_their_modules_were_imported():
    import gradely.evaluation.check
    import gradely.evaluation.evaluate
    import gradely.evaluation.explain

    assert callable(gradely.evaluate) and callable(gradely.explain) and callable(gradely.check)


def test_every_measure_is_documented():
    for measure in gradely.ALL:
        doc = measure.__doc__
        assert all(part in doc for part in ("Ties:", "Reference:", ">>>")), measure
        assert all(declared.doc for declared in measure.parameters.values()), measure


def test_kernels_know_no_array_library():
    source = Path(gradely.__file__).parent
    kernels = [
        "kernel/batch.py",
        "kernel/ties.py",
        "kernel/families.py",
        "kernel/gains.py",
        "kernel/by_place.py",
        "relevance",
        "measures",
    ]
    for path in (
        path
        for kernel in kernels
        for path in ([source / kernel] if kernel.endswith(".py") else (source / kernel).glob("*.py"))
    ):
        imported = {
            node.names[0].name.split(".")[0] if isinstance(node, ast.Import) else (node.module or "").split(".")[0]
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        assert not imported & {"numpy", "torch", "jax", "cupy"}, path


@pytest.mark.parametrize(
    "room", ["data/read", "kernel", "evaluation", "comparison", "judgments", "learning", "report", "trec_eval"]
)
def test_the_map_of_a_room_names_its_files(room):
    folder = ROOT / "src" / "gradely" / room
    lines = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()), clean=False).splitlines()
    named = [line.split()[0] for line in lines if line.startswith("    ")]
    assert sorted(named) == sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")


def test_the_path_of_a_run_names_files():
    folder = ROOT / "src" / "gradely" / "data"
    named = re.findall(r"\b(?:read|locate)/\w+", ast.get_docstring(ast.parse((folder / "__init__.py").read_text())))
    assert len(named) > 5 and all((folder / f"{name}.py").exists() for name in named)


def test_batches_are_freed_when_done_with():
    """No batch refers to itself: else memory grows until rubbish is collected, and a command hardly collects any."""
    import gc
    import weakref

    import numpy as np

    gc.disable()
    try:
        batch = gradely.from_arrays(np.array([[3.0, 2, 2], [1, 2, 3]]), np.array([[1, 2, 0], [0, 1, 0]]))
        for measure in EXPECTED:
            measure()(batch), measure(k=2)(batch)
        gone = weakref.ref(batch)
        del batch
        assert gone() is None
    finally:
        gc.enable()


TOOLS = {
    "catboost": "catboost",
    "ir_measures": "ir_measures",
    "lightgbm": "lightgbm",
    "pytrec_eval": None,
    "sentence_transformers": "sentence_transformers",
    "sklearn": "sklearn",
    "spark": "pyspark",
    "torch": "torch",
    "xgboost": "xgboost",
}
"""the adapters, and what each one adapts to"""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_adapter_has_an_extra():
    paths = (Path(gradely.__file__).parent / "adapters").glob("*.py")
    assert {path.stem for path in paths} - {"__init__"} == set(TOOLS) <= set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize(
    ("adapter", "use"),
    [
        ("ir_measures", "adapter.nDCG"),
        ("sentence_transformers", "adapter.GradedRetrievalEvaluator"),
        ("sklearn", "adapter.QidRanker(None)"),
        ("sklearn", "adapter.scorer('AP')"),
        ("torch", "adapter.LambdaLoss"),
    ],
)
def test_an_adapter_without_its_tool_says_what_to_install(adapter, use):
    code = (
        f"import sys; sys.modules[{TOOLS[adapter]!r}] = None; from gradely.adapters import {adapter} as adapter; {use}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].endswith(f": {install_extra(adapter)}")


def test_scores_of_scikit_learn_s_arrays_need_no_scikit_learn():
    code = "import sys; sys.modules['sklearn'] = None; from gradely.adapters.sklearn import score; score([[1]], [[1]])"
    assert "numpy" in modules_after(code)


@pytest.mark.parametrize("adapter", ["catboost", "lightgbm", "pytrec_eval", "spark", "xgboost"])
def test_an_adapter_of_functions_imports_no_tool(adapter):
    loaded = modules_after(f"import gradely.adapters.{adapter}")
    assert TOOLS[adapter] not in loaded and not set(HEAVY) & loaded


def test_the_checks_never_ask_for_rights_that_they_do_not_have():
    for path in (ROOT / "Makefile", *(ROOT / ".ci").iterdir()):
        assert "sudo" not in path.read_text(), path


def test_hooks_before_a_commit_are_checks_of_make_test():
    hooks = re.findall(r"entry: \.venv/bin/(.*)", (ROOT / ".pre-commit-config.yaml").read_text())
    recipes = dict(re.findall(r"^(\w+):.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert "$(MAKE) --jobs=2 types style\n" in recipes["test"]
    assert len(hooks) == 5 and all(f"$(BIN)/{hook}" in recipes["style"] + recipes["types"] for hook in hooks)
