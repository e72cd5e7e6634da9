"""The schema of the JSON that commands write: python -m tools.schema adds new keys to docs/reference/schema.json.

The schema is inferred from the output of each command for the demo collection. Within a version, it only grows: if a
promised key is missing or has another type, nothing is written, and the program says so.
"""

import contextlib
import io
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gradely.cli.main import run
from gradely.data.demo import collection
from gradely.evaluation.result import SCHEMA

PATH = Path(__file__).parents[1] / "docs" / "reference" / "schema.json"
EXAMPLES = {
    "evaluate": ("qrels.txt dense.run lexical.run -m nDCG@10", "qrels.txt popular.run -m AP -q --worst 2"),
    "explain": ("qrels.txt dense.run q01 -m AP", "qrels.txt lexical.run q02 -m nDCG@10"),
    "ties": ("qrels.txt dense.run lexical.run -m AP", "qrels.txt popular.run -m nDCG@10"),
    "compare": ("qrels.txt dense.run lexical.run -m AP", "qrels.txt popular.run lexical.run -m nDCG@10 --test tukey"),
    "gate": (
        "qrels.txt dense.run --baseline lexical.run -m AP",
        "qrels.txt popular.run --baseline lexical.run -m nDCG@10",
    ),
    "plan": ("qrels.txt dense.run lexical.run -m AP", "qrels.txt popular.run lexical.run -m RR --difference 0.1"),
    "check": ("qrels.txt dense.run", "qrels.txt popular.run"),
    "pools": ("qrels.txt dense.run lexical.run popular.run -m AP -m RR", "qrels.txt dense.run lexical.run -m nDCG"),
    "correlate": (
        "qrels.txt dense.run lexical.run popular.run -m AP -m RR",
        "qrels.txt dense.run lexical.run -m P@5 -m AP",
    ),
    "overlap": ("dense.run lexical.run", "dense.run lexical.run popular.run -m Jaccard@5"),
    "users": ("qrels.txt dense.run lexical.run", "qrels.txt popular.run lexical.run"),
    "phi": ("qrels.txt q01", "qrels.txt q02"),
    "holes": ("qrels.txt dense.run -m AP", "qrels.txt dense.run lexical.run -m RR"),
    "judges": (
        "--qrels qrels.txt --qrels half.txt dense.run lexical.run -m AP",
        "--qrels half.txt --qrels qrels.txt popular.run dense.run -m RR",
    ),
    "estimate": (
        "half.txt dense.run --judge qrels.txt -m AP",
        "half.txt dense.run lexical.run --judge qrels.txt -m RR",
    ),
    "sample": ("qrels.txt -n 5", "qrels.txt -n 6"),
    "suite": ("suite.toml -m AP", "suite.toml -m RR"),
    "measures": ("", ""),
}
"""two command lines for each command: values that differ between them, like names of measures, are not in the schema"""
SUITE = "".join(
    f'[{name}]\nqrels = "{qrels}"\nruns.dense = "dense.run"\nruns.lexical = "lexical.run"\n'
    for name, qrels in (("all", "qrels.txt"), ("half", "half.txt"))
)
"""two collections, both of the demo"""
FROM_DATA = re.compile(r"level_\d+")
"""keys that are levels of the labels"""


@contextlib.contextmanager
def in_demo() -> Iterator[None]:
    """Return a context that works in a folder with the demo collection."""
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        files = collection()
        half = [line for line in files["qrels.txt"].splitlines() if line < "q13"]
        for name, text in {**files, "half.txt": "\n".join(half), "suite.toml": SUITE}.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(home)


def documents(command: str) -> list[Any]:
    """Return the JSON of the examples of a command; call it in the folder of the demo."""
    found = []
    for number, arguments in enumerate(EXAMPLES[command]):
        path = f"{command}.{number}.json"
        with contextlib.redirect_stderr(io.StringIO()):
            code = run([command, *shlex.split(arguments), "-o", path])
        assert code in (0, 1), (command, arguments)
        found.append(json.loads(Path(path).read_text(encoding="utf-8")))
    return found


def infer(values: list[Any]) -> dict[str, Any]:
    """Return the schema that values of the same kind have in common.

    >>> infer([{"a": 1, "b": None}, {"a": 2.5, "b": "x"}])["properties"]
    {'a': {'type': 'number'}, 'b': {'type': ['null', 'string']}}
    >>> infer([{"AP": 1}, {"RR": 0.5}])
    {'type': 'object', 'additionalProperties': {'type': 'number'}}
    """
    kinds = sorted({kind_of(value) for value in values})
    schema: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}
    objects = [value for value in values if isinstance(value, dict)]
    items = [item for value in values if isinstance(value, list) for item in value]
    if objects:
        shared = {key for key in set.intersection(*map(set, objects)) if not FROM_DATA.fullmatch(key)}
        if shared:
            schema["required"] = sorted(shared)
            schema["properties"] = {key: infer([value[key] for value in objects]) for key in sorted(shared)}
        else:
            schema["additionalProperties"] = infer([item for value in objects for item in value.values()])
    if items:
        schema["items"] = infer(items)
    return schema


def kind_of(value: Any) -> str:
    """Return the type of a value in JSON Schema; whole numbers are numbers."""
    if isinstance(value, bool):
        return "boolean"
    names = {"NoneType": "null", "int": "number", "float": "number", "str": "string", "list": "array", "dict": "object"}
    return names[type(value).__name__]


def violations(value: Any, schema: dict[str, Any], place: str = "$") -> list[str]:
    """Return where a value violates a schema.

    >>> violations({"a": "x"}, infer([{"a": 1, "b": 2}]))
    ['$: b is missing', '$.a: string, not number']
    """
    kinds = schema.get("type", kind_of(value))
    if kind_of(value) not in ([kinds] if isinstance(kinds, str) else kinds):
        return [f"{place}: {kind_of(value)}, not {kinds}"]
    out = []
    if isinstance(value, dict):
        out += [f"{place}: {key} is missing" for key in schema.get("required", []) if key not in value]
        rest = schema.get("additionalProperties", {})
        known = schema.get("properties", {})
        for key, item in value.items():
            out += violations(item, known.get(key, rest), f"{place}.{key}")
    elif isinstance(value, list):
        out += [text for item in value for text in violations(item, schema.get("items", {}), f"{place}[]")]
    return out


def main() -> int:
    """Add new commands and new keys; refuse to remove any."""
    old = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {"$defs": {}}
    found = {}
    with in_demo():
        for command in EXAMPLES:
            values = documents(command)
            broken = [text for value in values for text in violations(value, old["$defs"].get(command, {}))]
            if broken and old.get("version") == SCHEMA:
                print(f"gradely {command} breaks version {SCHEMA} of the schema: {'; '.join(broken[:5])}")
                return 1
            found[command] = infer(values)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What the commands of gradely write with --format json, by command",
        "version": SCHEMA,
        "$defs": found,
    }
    PATH.write_text(json.dumps(schema, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
