"""A schema with a column of every kind, and the walk of a question from its text to its SQL."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import sfumato as sf
from sfumato.door import written
from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.kernel.certify import Certified
from sfumato.kernel.cost import Cost
from sfumato.ledger.terms import Terms
from sfumato.plan.nodes import Plan
from sfumato.query.bind import BoundQuestion
from sfumato.query.planned import planned
from sfumato.query.rewrite import Draft
from sfumato.schema.table import Schema

COLUMNS = {
    "age": sf.Int(0, 120),
    "income": sf.Float(0, 200_000),
    "debt": sf.Float(-5000, -10),
    "height": sf.Float(Decimal("0.5"), Decimal("2.5")),
    "children": sf.Int(),
    "wealth": sf.Float(),
    "sex": sf.Category(["f", "m"]),
    "grade": sf.Category([1, 2, 3]),
    "member": sf.Category([True, False]),
    "zip": sf.Text(),
    "name": sf.Identifier(),
    "Two Words": sf.Int(-1, 1),
    "order": sf.Int(1, 3),
    "date": sf.Text(),
    "born": sf.Date("1920-01-01", "2019-12-31"),
    "seen": sf.Date(),
    "visit": sf.Int(1, 1000),
    "street": sf.Int(1, 1000),
}
SCHEMA = Schema("people", sf.Row(), COLUMNS)
# The same people with a second table and two public ones; asked in the fixtures called joins.
LOOKUPS = {
    "zips": sf.Lookup("zips.csv", "zip", {"state": sf.Category(["north", "south"]), "Area": sf.Float(0, 10)}),
    "grades": sf.Lookup("grades.csv", "grade", {"grade": sf.Int(), "title": sf.Text(), "income": sf.Int(0, 9)}),
}
TABLES = {"visits": sf.Table("visits.csv", {"day": sf.Int(1, 7), "cost": sf.Float(-2, 8), "age": sf.Int(0, 9)})}
JOINED = Schema("people", sf.Person("who", 3, 2), COLUMNS, LOOKUPS, TABLES)
EPSILON = sf.Budget(epsilon=3)
RHO = sf.Budget(epsilon=3, delta=Decimal("1e-6"))


@dataclass(frozen=True)
class Walk:
    """What each step of the walk gave."""

    bound: BoundQuestion
    draft: Draft
    price: Cost
    plan: Plan
    certified: Certified
    sql: tuple[str, ...]


def walk(
    question: str, *, schema: Schema = SCHEMA, budget: sf.Budget = EPSILON, spend: Fraction = Fraction(1, 2)
) -> Walk:
    price = Terms(budget).price(spend)
    one = planned(question, schema, price, Terms(budget).for_keys(None))
    return Walk(one.bound, one.draft, price, one.certified.plan, one.certified, written(one.certified, DUCKDB))
