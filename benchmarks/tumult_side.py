"""Tumult Analytics on the same tables; runs in an environment of its own (tumult.lock) and needs Java 17.

Reads one line of JSON from standard input and answers with one: for each case the noise that Tumult states, and what it
answered in so many runs. `benchmarks.tumult` asks.
"""

import json
import os
import sys
import warnings
from math import inf

warnings.filterwarnings("ignore")
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

from pyspark.sql import SparkSession  # noqa: E402
from tmlt.analytics import (  # noqa: E402
    AddOneRow,
    AddRowsWithID,
    ApproxDPBudget,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    MaxRowsPerID,
    PureDPBudget,
    QueryBuilder,
    RhoZCDPBudget,
    Session,
)

LAPLACE = ("LAPLACE", "GEOMETRIC")  # whose parameter is a scale; of the others it is a variance
ORIGINS = KeySet.from_dict({"origin": ["EWR", "JFK", "LGA"]})
YEARS = KeySet.from_dict({"year": [1984, 1985, 1986, 1987, 1988]})
SEXES = KeySet.from_dict({"female": [0, 1]})
IN_A_YEAR = QueryBuilder("rwm").enforce(MaxGroupsPerID("year", 5)).enforce(MaxRowsPerGroupPerID("year", 1))
# By the names of `benchmarks.tumult`: the table, whether people are told apart by an id, and the query.
QUERIES = {
    "count": ("flchain", None, QueryBuilder("flchain").filter("death = 1 AND age >= 70").count()),
    "sum": ("flights", None, QueryBuilder("flights").filter("month = 2").sum("distance", 0, 5000)),
    "average": ("flchain", None, QueryBuilder("flchain").average("creatinine", 0, 5)),
    "average by group": ("flights", None, QueryBuilder("flights").groupby(ORIGINS).average("dep_delay", -60, 300)),
    "count by year, a row of each": ("rwm", "id", IN_A_YEAR.groupby(YEARS).count()),
    "average by group, five rows of each": (
        "rwm",
        "id",
        QueryBuilder("rwm").enforce(MaxRowsPerID(5)).groupby(SEXES).average("docvis", 0, 60),
    ),
    "median, ρ": ("titanic", None, QueryBuilder("titanic").quantile("age", 0.5, 0, 80)),
    "median, ε": ("titanic", None, QueryBuilder("titanic").quantile("age", 0.5, 0, 80)),
    "quantile, ε": ("flchain", None, QueryBuilder("flchain").quantile("creatinine", 0.9, 0, 5)),
}
KEYS = {"keys, many rows": ("adult", "native_country"), "keys, few rows": ("flchain", "chapter")}


def main() -> None:
    order = json.loads(sys.stdin.readline())
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "4g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    tables = {name: spark.read.parquet(path).cache() for name, path in order["tables"].items()}
    answers = {}
    for asked in order["cases"]:
        print(asked["name"], file=sys.stderr)
        made = keys if asked["name"] in KEYS else numbers
        answers[asked["name"]] = made(tables, asked, order["runs"])
    print(json.dumps(answers))


def numbers(tables: dict, asked: dict, runs: int) -> dict:
    """What is stated; only where that is no scale of noise that is added, also what is answered."""
    table, person, query = QUERIES[asked["name"]]
    kind = PureDPBudget if asked["currency"] == "epsilon" else RhoZCDPBudget
    change = AddOneRow() if person is None else AddRowsWithID(person)
    session = Session.from_dataframe(kind(inf), table, tables[table], protected_change=change)
    stated = [
        (one["noise_mechanism"].name, float(one["noise_parameter"]))
        for one in session._noise_info(query, kind(asked["amount"]))
    ]
    if stated[0][0] != "EXPONENTIAL":
        return {"scales": [value if name in LAPLACE else value**0.5 for name, value in stated]}
    return {"runs": [session.evaluate(query, kind(asked["amount"])).collect()[0][0] for _ in range(runs)]}


def keys(tables: dict, asked: dict, runs: int) -> dict:
    """Half finds keys, by a rule of ε and δ that costs ε²/2 of ρ; half counts rows in those found."""
    table, column = KEYS[asked["name"]]
    half, found = asked["amount"] / 2, []
    for _ in range(runs):
        finding = ApproxDPBudget((2 * half) ** 0.5, asked["delta"])
        session = Session.from_dataframe(finding, table, tables[table], protected_change=AddOneRow())
        shown = session.evaluate(QueryBuilder(table).get_groups([column]), finding)
        if not shown.count():
            found.append({})
            continue
        counting = RhoZCDPBudget(half)
        session = Session.from_dataframe(counting, table, tables[table], protected_change=AddOneRow())
        counted = session.evaluate(QueryBuilder(table).groupby(KeySet.from_dataframe(shown)).count(), counting)
        found.append({row[0]: row[1] for row in counted.collect()})
    return {"keys": found}


if __name__ == "__main__":
    main()
