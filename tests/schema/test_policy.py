"""The policy file: read exactly, or refused with the line to mend; and the draft that starts one."""

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from sfumato.errors import DataUnreadable, UsageError
from sfumato.schema.columns import Category, Date, Float, Identifier, Int, Text
from sfumato.schema.draft import KNOWN_BOUNDS, Look, draft_policy, who_is_protected, worth_a_look
from sfumato.schema.policy import Policy, load_policy
from sfumato.schema.unit import Person, Row

POLICY = """
[data]
source = "crowd.parquet"
table = "people"

[unit]
id = "user_id"
max_rows = 20
max_groups = 5

[budget]
epsilon = 0.1
delta = 1e-6

[columns]
age = { type = "int", lower = 17, upper = 90 }
income = { type = "float", lower = 0.1, upper = 200000 }
wealth = { type = "float" }
education = { type = "category", values = ["Bachelors", "HS-grad"] }
zip = { type = "text" }
name = { type = "identifier" }
"""


def load(folder: Path, text: str) -> Policy:
    path = folder / "people.toml"
    path.write_text(text, encoding="utf-8")
    return load_policy(path)


def test_a_policy_is_read_exactly(tmp_path: Path) -> None:
    policy = load(tmp_path, POLICY)
    assert policy.source == tmp_path / "crowd.parquet"
    assert policy.ledger == tmp_path / "crowd.ledger"
    assert policy.anchor is None
    assert policy.budget.epsilon == Fraction(1, 10)
    assert policy.budget.delta == Fraction(1, 10**6)
    assert policy.schema.table == "people"
    assert policy.schema.unit == Person("user_id", 20, 5)
    assert dict(policy.schema.columns) == {
        "age": Int(17, 90),
        "income": Float(Fraction(1, 10), 200_000),
        "wealth": Float(),
        "education": Category(["Bachelors", "HS-grad"]),
        "zip": Text(),
        "name": Identifier(),
    }


def test_what_may_be_left_out(tmp_path: Path) -> None:
    short = """
    [data]
    source = "data/crowd.csv"
    [unit]
    kind = "row"
    [budget]
    epsilon = 3
    [ledger]
    path = "kept/ledger"
    anchor = "elsewhere/anchor"
    [columns]
    zip = { type = "text" }
    """
    policy = load(tmp_path, short)
    assert policy.schema.table == "crowd"
    assert policy.schema.unit == Row()
    assert policy.budget.delta == 0
    assert policy.ledger == tmp_path / "kept" / "ledger"
    assert policy.anchor == tmp_path / "elsewhere" / "anchor"
    once = POLICY.replace("max_groups = 5\n", "")
    assert load(tmp_path, once).schema.unit == Person("user_id", 20, 1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[data]", "[date]", 'does not know "date". Did you mean "data"?'),
        ("table =", "tabel =", 'does not know "tabel". Did you mean "table"?'),
        ('source = "crowd.parquet"\n', "", "[data] lacks source"),
        ('[data]\nsource = "crowd.parquet"\ntable = "people"\n', "data = 1\n", "[data] lacks its lines"),
        ('id = "user_id"\n', "", "[unit] lacks id"),
        ('id = "user_id"\n', 'kind = "row"\n', '[unit]: a unit of kind "row" has no max_rows'),
        ('id = "user_id"\n', 'id = "user_id"\nkind = "rows"\n', '[unit] does not know "rows". Did you mean "row"?'),
        ('id = "user_id"\n', 'id = "user_id"\nkind = "row"\n', '[unit]: a unit of kind "row" has no id'),
        ('id = "user_id"\n', 'kind = "up to"\n', '[unit]: a unit of kind "up to" has no max_rows'),
        ('id = "user_id"\nmax_rows = 20\nmax_groups = 5\n', 'kind = "up to"\n', "[unit] lacks rows"),
        (
            'id = "user_id"\nmax_rows = 20\nmax_groups = 5\n',
            'kind = "up to"\nrows = 0\n',
            "[unit]: rows must lie between 1 and",
        ),
        ('id = "user_id"\n', 'id = "user_id"\nrows = 3\n', '[unit]: a unit of kind "person" has no rows'),
        ("max_rows = 20\n", "", "[unit] lacks max_rows"),
        ("max_rows = 20", "max_rows = 4", "[unit]: max_rows=4 is below max_groups=5"),
        ("max_rows = 20", "max_rows = 2.5", "[unit]: max_rows must be a whole number"),
        ("max_rows = 20", "max_rows = true", "[unit]: max_rows must be a whole number"),
        ("epsilon = 0.1\n", "", "[budget] lacks epsilon"),
        ("epsilon = 0.1", "epsilon = 0", "[budget]: epsilon must be greater than 0"),
        ("epsilon = 0.1", "epsilon = nan", "[budget]: epsilon must be a finite number"),
        ("delta = 1e-6", "delta = 1", "[budget]: delta must lie between"),
        ('zip = { type = "text" }', 'zip = "text"', "[columns.zip] lacks type"),
        ('zip = { type = "text" }', "zip = { }", "[columns.zip] lacks type"),
        (
            'zip = { type = "text" }',
            'zip = { type = "txt" }',
            '[columns.zip] does not know "txt". Did you mean "text"?',
        ),
        ('zip = { type = "text" }', 'zip = { type = "text", lower = 1 }', '[columns.zip] does not know "lower"'),
        (
            'zip = { type = "text" }',
            'zip = { type = "text", role = "secret" }',
            '[columns.zip] does not know "secret"',
        ),
        (', values = ["Bachelors", "HS-grad"]', "", "[columns.education] lacks values"),
        ('["Bachelors", "HS-grad"]', '["a", "a"]', "[columns] education: the category value 'a' is listed twice"),
        ("lower = 17, upper = 90", "lower = 90, upper = 17", "[columns] age: lower bound 90 is not below"),
        ("lower = 17, upper = 90", "lower = 17", "[columns] age: lower bound 17 is not below upper bound (missing)"),
        ("[budget]", "[budget", "is not valid TOML"),
        ('table = "people"', 'table = ""', "the table: '' is not a usable name"),
        ('source = "crowd.parquet"', 'source = "a\\u0000b.csv"', "[data] source: source does not name a file"),
        ("[columns]", '[ledger]\npath = "/"\n[columns]', "[ledger] path: path does not name a file"),
        ("[columns]", f'[ledger]\nanchor = "{"x" * 300}"\n[columns]', "[ledger] anchor: anchor does not name a file"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in POLICY
    with pytest.raises(UsageError) as refused:
        load(tmp_path, POLICY.replace(old, new))
    assert refused.value.message.startswith("people.toml")
    assert message in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize("columns", ["", "columns = 3\n"])
def test_a_policy_without_columns_is_refused(tmp_path: Path, columns: str) -> None:
    text = columns + POLICY[: POLICY.index("[columns]")]
    with pytest.raises(UsageError, match="no column is declared"):
        load(tmp_path, text)


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 5000], ids=["long number", "deep list"])
def test_what_the_parser_gives_up_on_is_a_mistake_too(tmp_path: Path, value: str) -> None:
    with pytest.raises(UsageError, match="not valid TOML"):
        load(tmp_path, f"x = {value}\n{POLICY}")


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(DataUnreadable, match="no policy file"):
        load_policy(tmp_path / "absent.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataUnreadable, match="UTF-8"):
        load_policy(tmp_path / "binary.toml")
    with pytest.raises(DataUnreadable):
        load_policy(tmp_path)


# ---- the draft ---------------------------------------------------------------------------------------------

TYPES = {
    "user_id": "BIGINT",
    "age": "INTEGER",
    "income": "DOUBLE",
    "first name": "VARCHAR",
    "phone": "BIGINT",
    "order_id": "VARCHAR",
    "city": "VARCHAR",
    "children": "UTINYINT",
    "joined": "TIMESTAMP",
    'odd "key" \\': "DOUBLE",
}


def test_a_draft_is_a_policy(tmp_path: Path) -> None:
    policy = load(tmp_path, draft_policy("people.csv", "people", TYPES))
    assert policy.schema.unit == Person("user_id", 10, 5)
    columns = policy.schema.columns
    assert "user_id" not in columns
    assert columns["age"] == Int(*KNOWN_BOUNDS["age"])
    assert columns["income"] == Float()
    assert columns["phone"] == columns["order_id"] == Identifier()
    assert columns["city"] == Text()
    assert columns["joined"] == Date()
    assert columns["children"] == Int()


def test_a_draft_keeps_odd_names_readable() -> None:
    content = tomllib.loads(draft_policy('odd "file".csv', "ta\\ble", {**TYPES, "tab\tbed": "DOUBLE"}))
    assert content["data"] == {"source": 'odd "file".csv', "table": "ta\\ble"}
    assert set(content["columns"]) == {*TYPES, "tab\tbed"} - {"user_id"}


@pytest.mark.parametrize(
    ("columns", "unit"),
    [
        ({"ID": "INT", "age": "INT"}, "ID"),
        ({"age": "INT", "visit_id": "INT"}, "visit_id"),
        ({"order_id": "INT", "Patient_ID": "INT", "age": "INT"}, "Patient_ID"),
    ],
)
def test_the_unit_is_guessed_by_name(columns: dict[str, str], unit: str) -> None:
    assert tomllib.loads(draft_policy("x.csv", "x", columns))["unit"]["id"] == unit


def test_without_an_id_each_row_is_somebody_else() -> None:
    content = tomllib.loads(draft_policy("x.csv", "x", {"age": "INTEGER", "weight": "FLOAT"}))
    assert content["unit"] == {"kind": "row"}
    assert content["columns"]["weight"] == {"type": "float", "lower": 0, "upper": 300}


def test_booleans_are_categories_of_two_values(tmp_path: Path) -> None:
    columns = {"smoker": "BOOLEAN", "died": "BIGINT", "consent": "VARCHAR", "city": "VARCHAR", "age": "BIGINT"}
    looks: dict[str, Look] = {"died": ("0", "1"), "consent": ("No", "Yes")}
    found = load(tmp_path, draft_policy("x.csv", "x", columns, looks=looks)).schema.columns
    assert found["smoker"] == Category([True, False])
    assert found["died"] == Category([0, 1])
    assert found["consent"] == Category(["No", "Yes"])
    assert (found["city"], found["age"]) == (Text(), Int(0, 120))


def test_numbers_with_decimal_commas_are_texts_and_the_draft_says_what_to_do(tmp_path: Path) -> None:
    drafted = draft_policy("x.csv", "x", {"price": "VARCHAR", "city": "VARCHAR"}, looks={"price": "decimal commas"})
    assert load(tmp_path, drafted).schema.columns["price"] == Text()
    assert [line.split()[0] for line in drafted.splitlines() if "12.5 for 12,5" in line] == ["price"]


def test_ids_of_all_kinds_are_identifiers_and_their_cells_are_not_looked_at() -> None:
    columns = {"transaction_id": "BIGINT", "CustomerID": "VARCHAR", "ИНН": "BIGINT", "amount": "DOUBLE", "paid": "INT"}
    content = tomllib.loads(draft_policy("x.csv", "x", columns))
    assert content["unit"]["id"] == "CustomerID"
    assert [name for name, one in content["columns"].items() if one["type"] == "identifier"] == [
        "transaction_id",
        "ИНН",
    ]
    assert worth_a_look(columns) == ["paid"]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ("PatientId visit_id", ('"PatientId"', "that of a person's id", "visit_id")),
        ("паспорт", ('"паспорт"', "document")),
        ("customer", ('"customer"', "that of a person.")),
        ("id", ('"id"', "if that is not a person's")),
        ("visit_id", ('"visit_id"', "if this one is an event's")),
        ("age", ("every row by itself", "may have several rows", "[unit]")),
    ],
)
def test_a_draft_says_who_is_protected_and_why(columns: str, says: tuple[str, ...]) -> None:
    assert all(part in who_is_protected(dict.fromkeys(columns.split(), "VARCHAR")) for part in says)
