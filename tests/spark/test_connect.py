"""Spark Connect: frames of a server, which this process starts and talks to, give the same values to the last bit."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_server_gives_the_same_values():
    arguments = [sys.executable, "-m", "tests.spark.connect"]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line.rpartition("\r")[2].strip() for line in done.stdout.splitlines()]
    assert lines[0] == "pyspark.sql.connect.session"
    assert lines[1:4] == ["expected", "trec", "random"]
    assert lines[4].startswith("refused: ")
    assert "order" in lines[4]
    assert lines[5] == "executors"
