"""What test_connect runs in a process of its own: python -m tests.spark.connect, which prints what holds.

One process cannot have both a Spark of its own and one that it is connected to.
"""

import os
import sys
import warnings

import gradely
from gradely.adapters import spark as adapter
from tests.engines import MEASURES, collection, same_everywhere


def main() -> None:
    """Start a server of Spark Connect here, and compare."""
    warnings.simplefilter("ignore")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "3").getOrCreate()
    print(type(spark).__module__)  # noqa: T201 - for the test

    def into(table):
        return spark.createDataFrame(table.to_pandas())

    for ties in ("expected", "trec", "random"):
        same_everywhere(into, ties)
        print(ties)  # noqa: T201 - for the test
    try:
        gradely.evaluate(*map(into, collection()), MEASURES, ties="order")
    except gradely.DataError as error:
        print(f"refused: {error}")  # noqa: T201 - for the test
    qrels, run = collection()
    values = adapter.evaluate(into(qrels), into(run), MEASURES).collect()
    theirs = {(str(row["query"]), row["measure"]): row["value"] for row in values}
    ours = gradely.evaluate(qrels, run, MEASURES).per_query()
    assert theirs == {(query, name): value for query, row in ours.items() for name, value in row.items()}
    print("executors")  # noqa: T201 - for the test
    spark.stop()


if __name__ == "__main__":
    main()
