"""Completion at the Tab key: in a real bash on a terminal, and what zsh and fish are told."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gradely
from gradely.cli.main import COMMANDS, run

BIN = Path(sys.executable).parent
ENVIRONMENT = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "TERM": "dumb", "PS1": "$ "}
SECONDS = 60
"""how long a terminal may take to answer, on a machine that is busy"""


class Terminal:
    """A shell on a terminal of its own."""

    def __init__(self, folder):
        self.process, self.end = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], ENVIRONMENT)

    def type(self, text, until):
        """Type, and return what the terminal shows until a pattern appears."""
        os.write(self.end, text.encode())
        shown, end = "", time.monotonic() + SECONDS
        while not re.search(until, shown) and time.monotonic() < end:
            if select.select([self.end], [], [], 0.1)[0]:
                shown += os.read(self.end, 65536).decode(errors="replace").replace("\r", "").replace("\a", "")
        assert re.search(until, shown), shown
        return shown

    def close(self):
        os.write(self.end, b"\x15exit\n")
        os.close(self.end)
        os.waitpid(self.process, 0)


def seen(text):
    """Return a line as the eye sees it: a backspace moves the cursor, what comes then overwrites."""
    line, cursor = [], 0
    for character in text:
        if character == "\b":
            cursor -= 1
        else:
            line[cursor : cursor + 1] = character
            cursor += 1
    return "".join(line)


@pytest.fixture(scope="module")
def bash(tmp_path_factory):
    """A bash with the completion loaded, in a folder with two files."""
    folder = tmp_path_factory.mktemp("bash")
    (folder / "qrels.txt").write_text("")
    (folder / "a run").write_text("")
    terminal = Terminal(folder)
    terminal.type('eval "$(gradely completion bash)"; bind "set bell-style none"; echo rea""dy\n', r"ready\n[^\n]*\$ $")
    yield terminal
    terminal.close()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("gradely eval", "gradely evaluate "),
        ("gradely evaluate q", "gradely evaluate qrels.txt "),
        ("gradely evaluate qrels.txt a", r"gradely evaluate qrels.txt a\ run "),
        ("gradely evaluate qrels.txt --jud", "gradely evaluate qrels.txt --judged-only "),
        ("gradely evaluate --ties exp", "gradely evaluate --ties expected "),
        ("gradely evaluate --ties=exp", "gradely evaluate --ties=expected "),
        ("gradely evaluate -m mua", "gradely evaluate -m muAP "),
        ("gradely evaluate -m nDCG@2", "gradely evaluate -m nDCG@20 "),
        ("gradely evaluate -m 'AP(rel=2)@2", "gradely evaluate -m 'AP(rel=2)@20' "),
        ("gradely evaluate -m nDCG@20 -m bpr", "gradely evaluate -m nDCG@20 -m bpref "),
        ("gradely compare qrels.txt --report=q", "gradely compare qrels.txt --report=qrels.txt "),
        ("gradely trec_eval -q q", "gradely trec_eval -q qrels.txt "),
        ("gradely measures Succ", "gradely measures Success "),
        ("gradely completion z", "gradely completion zsh "),
    ],
)
def test_bash_completes(bash, line, completed):
    shown = bash.type(f"\x15{line}\t#", "#")
    assert seen(shown.splitlines()[-1]).endswith(f"{completed}#"), shown


def test_bash_lists_what_may_come(bash):
    shown = bash.type("\x15gradely \t\t#", r"demo[^#]*#")
    assert set(COMMANDS) <= set(re.findall(r"\w+", shown))
    shown = bash.type("\x15gradely evaluate -m nDCG@\t\t#", r"@1000?[^#]*#|1000[^#]*#")
    assert {"1", "10", "100", "1000"} <= set(re.findall(r"\d+", shown))


def ask(shell, words, current):
    """Return the completions that a shell is told."""
    environment = ENVIRONMENT | {"_GRADELY_COMPLETE": f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": current}
    done = subprocess.run(["gradely"], capture_output=True, text=True, check=True, env=environment)
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize(("shell", "current"), [("bash", ""), ("zsh", "3"), ("fish", "")])
def test_every_measure_is_offered(shell, current):
    words = set(re.findall(r"[\w]+", ask(shell, "gradely evaluate -m ", current)))
    assert {measure.name for measure in gradely.ALL} | {"all"} <= words


def test_help_has_one_line_per_shell(capfd):
    assert run(["completion", "--help"]) == 0
    lines = [line.split() for line in capfd.readouterr().out.splitlines() if "gradely completion" in line]
    assert [line[0].rstrip(":") for line in lines] == ["Usage", "bash", "zsh,", "fish"]


def test_a_command_that_does_not_exist_is_no_error():
    ask("bash", "gradely nonsense --x ", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_can_be_read_by_its_shell(shell, capfd):
    assert run(["completion", shell]) == 0
    script = capfd.readouterr().out
    assert "_GRADELY_COMPLETE" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_a_shell_that_is_not_known_is_refused(fails):
    fails("completion", "tcsh", says="'bash', 'zsh', 'fish'")
