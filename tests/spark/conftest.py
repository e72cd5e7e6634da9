"""One Spark for all tests, with two cores and a heap of 1 GB; make test-spark installs it."""

import os
import sys
import warnings
from importlib.util import find_spec

import pytest

collect_ignore_glob = [] if find_spec("pyspark") else ["test_*.py"]


@pytest.fixture(scope="session")
def spark():
    """Start Spark, quietly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ["PYSPARK_PYTHON"] = sys.executable  # executors have what the tests have
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.driver.memory", "1g")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "3")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()
