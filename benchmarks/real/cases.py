"""What people ask of real tables: question, policy and spend. A later edit of a case needs a reason beside it.

The truth is the question itself, asked of DuckDB on the raw rows, unless it is written out; "clipped" is the same on
rows as bounds clip them, or, where caps bind too, what our own engine counts: which rows count is its choice.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sfumato as sf

DELTA = 1e-6
KINDS = (
    "counts",
    "sums and averages",
    "by group",
    "joins",
    "folds",
    "quantiles",
    "found bounds",
    "discovered keys",
)


@dataclass(frozen=True, slots=True)
class Case:
    kind: str
    policy: str
    question: str
    spend: float = 0.5
    truth: str = ""  # the question itself, if not given
    caps: Mapping[str, int] = field(default_factory=dict)
    capped: bool = False  # some people have more rows than are counted
    pure: bool = False  # a budget without delta


@dataclass(frozen=True, slots=True)
class Policy:
    table: str
    unit: sf.Row | sf.Person
    columns: Mapping[str, Any]
    lookups: Mapping[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


YES = sf.Category([0, 1])
CARRIERS = [
    *("9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL"),
    *("HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"),
]
FLIGHTS: dict[str, Any] = {
    "month": sf.Int(1, 12),
    "hour": sf.Int(0, 23),
    "origin": sf.Category(["EWR", "JFK", "LGA"]),
    "carrier": sf.Category(CARRIERS),
    "dest": sf.Text(),
    "dep_delay": sf.Float(-60, 300),
    "arr_delay": sf.Float(-60, 300),
    "air_time": sf.Float(0, 720),
    "distance": sf.Int(0, 5000),
}
OPEN = 1 / 3  # of the spend finds bounds

POLICIES = {
    "flights": Policy(
        "flights",
        sf.Row(),
        {**FLIGHTS, "tailnum": sf.Text()},
        lookups={
            "airlines": ("carrier", {"name": sf.Text()}),
            "planes": (
                "tailnum",
                {
                    "year": sf.Int(1950, 2013),
                    "seats": sf.Int(0, 450),
                    "engine": sf.Category(["Turbo-fan", "Turbo-jet", "Turbo-prop", "Reciprocating"]),
                },
            ),
        },
    ),
    "aircraft": Policy("flights", sf.Person("tailnum", max_rows=40, max_groups=5), FLIGHTS),
    "hospital": Policy(
        "patients",
        sf.Person("id", max_rows=60, max_groups=6),
        {
            "age": sf.Int(18, 100),
            "male": YES,
            "bmi": sf.Float(10, 70),
            "futime": sf.Int(0, 7300),
            "status": YES,
            "weight": sf.Float(20, 200),
        },
        tables={"labs": {"days": sf.Int(-10_000, 10_000), "test": sf.Text(), "value": sf.Float(0, 400)}},
    ),
    "panel": Policy(
        "rwm",
        sf.Person("id", max_rows=5, max_groups=5),
        {
            "year": sf.Int(1984, 1988),
            "docvis": sf.Int(0, 60),
            "hospvis": sf.Int(0, 20),
            "hhninc": sf.Float(0, 20),
            "edlevel": sf.Int(1, 4),
            "female": YES,
            "married": YES,
            "kids": YES,
            "age": sf.Int(25, 64),
        },
    ),
    "flchain": Policy(
        "flchain",
        sf.Row(),
        {
            "age": sf.Int(50, 101),
            "sex": sf.Category(["F", "M"]),
            "creatinine": sf.Float(0, 5),
            "kappa": sf.Float(0, 10),
            "mgus": YES,
            "death": YES,
            "chapter": sf.Text(),
            "flc_grp": sf.Int(1, 10),
        },
    ),
    "adult": Policy(
        "adult",
        sf.Row(),
        {
            "age": sf.Int(17, 90),
            "fnlwgt": sf.Int(0, 1_500_000),
            "education_num": sf.Int(1, 16),
            "sex": sf.Category(["Female", "Male"]),
            "hours_per_week": sf.Int(0, 100),
            "native_country": sf.Text(),
            "occupation": sf.Text(),
        },
    ),
    "titanic": Policy(
        "titanic",
        sf.Row(),
        {
            "survived": sf.Category(["no", "yes"]),
            "sex": sf.Category(["female", "male"]),
            "age": sf.Float(0, 80),
            "passengerClass": sf.Category(["1st", "2nd", "3rd"]),
        },
    ),
    # Nobody declared bounds:
    "flights, open": Policy(
        "flights",
        sf.Row(),
        {"dep_delay": sf.Float(private_bounds=OPEN), "distance": sf.Int(private_bounds=OPEN)},
    ),
    "patients, open": Policy(
        "patients",
        sf.Row(),
        {name: sf.Float(private_bounds=OPEN) for name in ("weight", "height", "bmi")},
    ),
    "panel, open": Policy(
        "rwm",
        sf.Row(),
        {"docvis": sf.Int(private_bounds=OPEN), "hhninc": sf.Float(private_bounds=OPEN), "hospvis": sf.Int()},
    ),
    "adult, open": Policy(
        "adult",
        sf.Row(),
        {name: sf.Int(private_bounds=OPEN) for name in ("capital_gain", "capital_loss", "hours_per_week", "age")},
    ),
    "flchain, open": Policy("flchain", sf.Row(), {"creatinine": sf.Float(private_bounds=OPEN)}),
    "census, open": Policy(
        "acs", sf.Row(), {"income": sf.Float(private_bounds=OPEN), "age": sf.Int(private_bounds=OPEN)}
    ),
}

ONE = {"max_rows": 1}

CASES = (
    # ---- counts
    Case("counts", "flights", "SELECT COUNT(*) AS n FROM flights WHERE dep_delay > 60"),
    Case("counts", "flights", "SELECT COUNT(*) AS n FROM flights WHERE origin = 'JFK' AND month = 7", 0.1),
    Case("counts", "hospital", "SELECT COUNT(*) AS n FROM patients", caps=ONE),
    Case("counts", "hospital", "SELECT COUNT(*) AS n FROM patients WHERE age >= 60 AND bmi > 30", 1, caps=ONE),
    Case("counts", "hospital", "SELECT COUNT(DISTINCT id) AS n FROM labs"),
    Case("counts", "hospital", "SELECT COUNT(DISTINCT id) AS n FROM labs WHERE test = 'smoke' AND value = 1"),
    Case("counts", "panel", "SELECT COUNT(*) AS n FROM rwm WHERE year = 1984", caps=ONE),
    Case("counts", "panel", "SELECT COUNT(DISTINCT id) AS n FROM rwm", 0.2),
    Case("counts", "flchain", "SELECT COUNT(*) AS n FROM flchain WHERE death = 1 AND age >= 70", pure=True),
    Case("counts", "titanic", "SELECT COUNT(*) AS n FROM titanic WHERE survived = 'yes'", pure=True),
    Case("counts", "aircraft", "SELECT COUNT(*) AS n FROM flights WHERE dep_delay > 60", 1, capped=True),
    # ---- sums and averages
    Case("sums and averages", "flights", "SELECT AVG(dep_delay) AS d FROM flights"),
    Case("sums and averages", "flights", "SELECT SUM(distance) AS d FROM flights WHERE month = 2", 0.2),
    Case(
        "sums and averages",
        "flights",
        "SELECT AVG(CASE WHEN arr_delay > 15 THEN 1.0 ELSE 0.0 END) AS late FROM flights",
    ),
    Case("sums and averages", "hospital", "SELECT AVG(bmi) AS b FROM patients", caps=ONE),
    Case("sums and averages", "hospital", "SELECT SUM(futime / 365.25) AS years FROM patients", caps=ONE),
    Case(
        "sums and averages",
        "hospital",
        "SELECT STDDEV(bmi) AS s FROM patients",
        1,
        "SELECT STDDEV_POP(bmi) AS s FROM patients",
        caps=ONE,
    ),
    Case("sums and averages", "panel", "SELECT AVG(docvis) AS v FROM rwm WHERE year = 1988", caps=ONE),
    Case("sums and averages", "panel", "SELECT SUM(hospvis) AS v FROM rwm", 1),
    Case("sums and averages", "flchain", "SELECT AVG(creatinine) AS c FROM flchain", pure=True),
    Case("sums and averages", "adult", "SELECT AVG(hours_per_week) AS h, AVG(age) AS a FROM adult"),
    Case("sums and averages", "titanic", "SELECT AVG(age) AS a FROM titanic", pure=True),
    # ---- by group
    Case("by group", "flights", "SELECT origin, COUNT(*) AS n, AVG(dep_delay) AS d FROM flights GROUP BY origin"),
    Case("by group", "flights", "SELECT month, COUNT(*) AS n, AVG(arr_delay) AS d FROM flights GROUP BY month"),
    Case("by group", "flights", "SELECT hour, COUNT(*) AS n FROM flights GROUP BY hour", 0.1),
    Case(
        "by group",
        "hospital",
        "SELECT male, COUNT(*) AS n, AVG(bmi) AS b, AVG(age) AS a FROM patients GROUP BY male",
        caps=ONE,
    ),
    Case("by group", "hospital", "SELECT age, COUNT(*) AS n FROM patients GROUP BY age", caps=ONE),
    Case(
        "by group",
        "panel",
        "SELECT year, COUNT(*) AS n, AVG(docvis) AS v FROM rwm GROUP BY year",
        caps={"max_rows_per_group": 1},
    ),
    Case("by group", "panel", "SELECT female, AVG(docvis) AS v FROM rwm GROUP BY female", 1),
    Case("by group", "panel", "SELECT married, kids, COUNT(*) AS n FROM rwm GROUP BY married, kids", 1),
    Case(
        "by group",
        "flchain",
        "SELECT sex, mgus, COUNT(*) AS n, AVG(creatinine) AS c FROM flchain GROUP BY sex, mgus",
        1,
        pure=True,
    ),
    Case(
        "by group",
        "adult",
        "SELECT education_num, COUNT(*) AS n, AVG(hours_per_week) AS h FROM adult GROUP BY education_num",
    ),
    Case(
        "by group",
        "titanic",
        "SELECT passengerClass, sex, survived, COUNT(*) AS n FROM titanic GROUP BY passengerClass, sex, survived",
        pure=True,
    ),
    # ---- joins
    Case("joins", "flights", "SELECT AVG(seats) AS s FROM flights JOIN planes USING (tailnum)"),
    Case("joins", "flights", "SELECT AVG(2013 - planes.year) AS a FROM flights JOIN planes USING (tailnum)"),
    Case("joins", "flights", "SELECT engine, COUNT(*) AS n FROM flights JOIN planes USING (tailnum) GROUP BY engine"),
    Case("joins", "flights", "SELECT COUNT(*) AS n FROM flights JOIN planes USING (tailnum) WHERE seats > 200", 0.2),
    Case(
        "joins",
        "hospital",
        "SELECT male, AVG(value) AS c FROM labs JOIN patients USING (id) WHERE test = 'chol' GROUP BY male",
        1,
        capped=True,
    ),
    Case(
        "joins",
        "hospital",
        "SELECT COUNT(DISTINCT id) AS n FROM labs JOIN patients USING (id) WHERE test = 'hdl' AND age >= 60",
    ),
    Case(
        "joins",
        "hospital",
        "SELECT male, COUNT(*) AS n FROM patients JOIN (SELECT id, MAX(value) AS s FROM labs WHERE test = 'smoke'"
        " GROUP BY id) AS v USING (id) WHERE s = 1 GROUP BY male",
        caps=ONE,
        capped=True,
    ),
    Case(
        "joins",
        "hospital",
        "SELECT COUNT(*) AS n FROM patients LEFT JOIN (SELECT id, COUNT(*) AS k FROM labs GROUP BY id) AS v USING (id)"
        " WHERE k IS NULL",
        caps=ONE,
    ),
    # ---- folds
    Case(
        "folds",
        "hospital",
        "SELECT AVG(hi) AS m FROM (SELECT id, MAX(value) AS hi FROM labs WHERE test = 'sbp' GROUP BY id) AS v",
        capped=True,
    ),
    Case(
        "folds",
        "hospital",
        "SELECT AVG(m) AS m FROM (SELECT id, AVG(value) AS m FROM labs WHERE test = 'hdl' GROUP BY id) AS v",
        capped=True,
    ),
    Case(
        "folds",
        "hospital",
        "SELECT AVG(k) AS k, COUNT(*) AS n FROM (SELECT id, COUNT(*) AS k FROM labs GROUP BY id) AS v",
        capped=True,
    ),
    Case("folds", "panel", "SELECT AVG(d) AS d FROM (SELECT id, SUM(docvis) AS d FROM rwm GROUP BY id) AS v"),
    Case(
        "folds",
        "panel",
        "SELECT COUNT(*) AS n FROM (SELECT id, COUNT(*) AS k FROM rwm GROUP BY id) AS v WHERE k = 5",
        0.2,
    ),
    Case(
        "folds", "panel", "SELECT k, COUNT(*) AS n FROM (SELECT id, COUNT(*) AS k FROM rwm GROUP BY id) AS v GROUP BY k"
    ),
    Case(
        "folds",
        "panel",
        "SELECT AVG(i) AS i FROM (SELECT id, MAX(hhninc) AS i FROM rwm GROUP BY id) AS v",
        1,
        pure=True,
    ),
    Case(
        "folds",
        "aircraft",
        "SELECT AVG(d) AS d FROM (SELECT tailnum, MAX(dep_delay) AS d FROM flights GROUP BY tailnum) AS v",
        capped=True,
    ),
    # ---- quantiles
    Case("quantiles", "titanic", "SELECT MEDIAN(age) AS m FROM titanic"),
    Case("quantiles", "titanic", "SELECT MEDIAN(age) AS m FROM titanic", pure=True),
    Case(
        "quantiles",
        "hospital",
        "SELECT QUANTILE(bmi, 0.25) AS a, MEDIAN(bmi) AS b, QUANTILE(bmi, 0.75) AS c FROM patients",
        caps=ONE,
        truth="SELECT quantile_cont(bmi, 0.25) AS a, median(bmi) AS b, quantile_cont(bmi, 0.75) AS c FROM patients",
    ),
    Case(
        "quantiles",
        "flights",
        "SELECT QUANTILE(dep_delay, 0.9) AS q FROM flights WHERE hour = 20",
        0.3,
        "SELECT quantile_cont(dep_delay, 0.9) AS q FROM flights WHERE hour = 20",
    ),
    Case("quantiles", "flights", "SELECT origin, MEDIAN(arr_delay) AS m FROM flights GROUP BY origin", 0.3),
    Case("quantiles", "adult", "SELECT MEDIAN(hours_per_week) AS m FROM adult", pure=True),
    Case("quantiles", "adult", "SELECT MEDIAN(fnlwgt) AS m FROM adult", 0.2),
    Case("quantiles", "panel", "SELECT edlevel, MEDIAN(hhninc) AS m FROM rwm GROUP BY edlevel", 1),
    Case(
        "quantiles",
        "flchain",
        "SELECT QUANTILE(creatinine, 0.9) AS q FROM flchain",
        0.5,
        "SELECT quantile_cont(creatinine, 0.9) AS q FROM flchain",
        pure=True,
    ),
    # ---- found bounds
    Case("found bounds", "census, open", "SELECT SUM(income) AS s FROM acs", 1),
    Case("found bounds", "census, open", "SELECT AVG(income) AS m FROM acs", 2, pure=True),
    Case("found bounds", "patients, open", "SELECT AVG(weight) AS m FROM patients"),
    Case("found bounds", "patients, open", "SELECT SUM(height) AS s FROM patients", pure=True),
    Case("found bounds", "flights, open", "SELECT AVG(dep_delay) AS m FROM flights"),
    Case("found bounds", "flights, open", "SELECT SUM(distance) AS s FROM flights", 1),
    Case("found bounds", "panel, open", "SELECT SUM(docvis) AS s FROM rwm", 1),
    Case("found bounds", "panel, open", "SELECT AVG(hhninc) AS m FROM rwm", 1, pure=True),
    Case("found bounds", "adult, open", "SELECT SUM(capital_gain) AS s FROM adult", 1),
    Case("found bounds", "adult, open", "SELECT AVG(hours_per_week) AS m FROM adult", pure=True),
    Case("found bounds", "flchain, open", "SELECT AVG(creatinine) AS m FROM flchain", 1),
    # ---- discovered keys
    Case("discovered keys", "flights", "SELECT dest, COUNT(*) AS n FROM flights GROUP BY dest"),
    Case("discovered keys", "flights", "SELECT dest, AVG(arr_delay) AS d FROM flights GROUP BY dest", 1),
    Case("discovered keys", "flights", "SELECT tailnum, COUNT(*) AS n FROM flights GROUP BY tailnum"),
    Case(
        "discovered keys",
        "flights",
        "SELECT name, COUNT(*) AS n, AVG(arr_delay) AS d FROM flights JOIN airlines USING (carrier) GROUP BY name",
        1,
    ),
    Case(
        "discovered keys",
        "aircraft",
        "SELECT dest, COUNT(DISTINCT tailnum) AS n FROM flights GROUP BY dest",
        1,
        capped=True,
    ),
    Case("discovered keys", "hospital", "SELECT test, COUNT(DISTINCT id) AS n FROM labs GROUP BY test"),
    Case("discovered keys", "adult", "SELECT native_country, COUNT(*) AS n FROM adult GROUP BY native_country"),
    Case("discovered keys", "adult", "SELECT occupation, AVG(hours_per_week) AS h FROM adult GROUP BY occupation", 1),
    Case("discovered keys", "flchain", "SELECT chapter, COUNT(*) AS n FROM flchain GROUP BY chapter", 1),
    Case("discovered keys", "panel, open", "SELECT hospvis, COUNT(*) AS n FROM rwm GROUP BY hospvis", 1),
)
