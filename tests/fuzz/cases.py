"""A case: files and arguments that a check takes. One that fails is made smaller and kept."""

import base64
import hashlib
import json
import time
import traceback
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "cases"
ANY_BYTES = ("commands", "readers")
"""checks whose files may hold anything; those of others stay lines of JSON"""
PATIENCE = 30
"""seconds to make a case smaller"""


class Case(NamedTuple):
    """What a check looks at; `arguments` are text that JSON can hold."""

    check: str
    files: dict[str, bytes]
    arguments: list

    def save(self, failure, folder=FOLDER):
        """Write it to a file that is named by its content; return where."""
        files = {name: _readable(text) for name, text in self.files.items()}
        content = {"check": self.check, "failure": failure, "arguments": self.arguments, "files": files}
        text = json.dumps(content, indent=1)
        path = folder / f"{self.check}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.json"
        folder.mkdir(exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
        return path

    @classmethod
    def load(cls, path):
        """Read a case that was saved."""
        content = json.loads(path.read_text(encoding="utf-8"))
        files = {
            name: base64.b64decode(text["base64"]) if isinstance(text, dict) else text.encode()
            for name, text in content["files"].items()
        }
        return cls(content["check"], files, content["arguments"])


def _readable(text):
    try:
        return text.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(text).decode()}


def failure_of(work, case):
    """Return how a check fails on a case, in a line that tells failures apart; None where it does not."""
    try:
        work(case)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a failure
        ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "gradely" in frame.filename]
        where = f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours else "-"
        what = ":".join(str(error).split(":")[:2])[:80] if isinstance(error, AssertionError) else ""
        return f"{type(error).__name__} in {where} {what}".strip()
    return None


def shrink(work, case):
    """Return a smaller case that fails in the same way: fewer lines first, then fewer bytes."""
    failure, deadline = failure_of(work, case), time.monotonic() + PATIENCE
    for name in case.files:
        for split in (_lines, *([_bytes] if case.check in ANY_BYTES else [])):
            case = _fewer(work, case, name, split, failure, deadline)
    return case


def _lines(text):
    return text.splitlines(keepends=True)


def _bytes(text):
    return [text[i : i + 1] for i in range(len(text))]


def _fewer(work, case, name, split, failure, deadline):
    """Take away ever smaller parts of one file as long as the failure stays."""
    parts = split(case.files[name])
    size = max(1, len(parts) // 2)
    while size and parts:
        at = 0
        while at < len(parts):
            if time.monotonic() > deadline:
                return case
            fewer = parts[:at] + parts[at + size :]
            smaller = case._replace(files=case.files | {name: b"".join(fewer)})
            if failure_of(work, smaller) == failure:
                parts, case = fewer, smaller
            else:
                at += size
        size //= 2
    return case
