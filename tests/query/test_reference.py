"""The reference pages: those made from the code equal it, and the others' examples do what the page says."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import docs.generate
import docs.wordings
import pytest

import sfumato
from sfumato import errors
from sfumato.cli.main import COMMANDS
from sfumato.errors import Refused, UsageError
from sfumato.kernel.ceilings import MOST_PAIRS
from sfumato.kernel.certify import MOST_COUNTED, MOST_GROUPS
from sfumato.plan.expressions import Column
from sfumato.plan.functions import FUNCTIONS
from sfumato.plan.nodes import Magnitudes
from sfumato.plan.totality import LONGEST_MADE
from sfumato.plan.work import MOST_NODES, MOST_WORK
from sfumato.query import bind_calls, sql, sql_calls, sql_expressions, sql_sources
from sfumato.query.bind_functions import MOST_PARTS
from sfumato.query.sql_instead import FUNCTIONS_INSTEAD, KINDS, PARTS
from sfumato.schema.columns import Category, Date, Float, Identifier, Int, Text
from sfumato.schema.numbers import LARGEST_EXPONENT
from sfumato.schema.policy import COLUMN_TYPES, SECTIONS, Policy, load_policy
from sfumato.session import MOST_QUESTIONS
from tests.query.asking import walk

MAGNITUDES = (bind_calls.WHOLE_MAGNITUDES, bind_calls.REAL_MAGNITUDES)
LETTERS = {"x": "age", "y": "income", "t": "zip", "u": "sex", "d": "born", "e": "seen", "digits": "2", "width": "10"}
FUNCTION_HEAD = "function | gives | also written"
REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page(name), flags=re.MULTILINE | re.DOTALL)


def table_rows(name: str, head: str) -> Iterator[list[str]]:
    """The cells of the table that starts with these headings."""
    start = page(name).index(f"| {head} |")
    for line in page(name)[start:].splitlines()[2:]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


# ---- made from the code


@pytest.mark.parametrize("name", docs.generate.PAGES)
def test_a_page_made_from_the_code_is_up_to_date(name: str) -> None:
    assert page(name) == docs.generate.PAGES[name](), "Run: python -m docs.generate"


def test_no_page_of_a_package_is_left_over() -> None:
    kept = {path.relative_to(REFERENCE).as_posix() for path in (REFERENCE / "python").iterdir()}
    assert kept == {name for name in docs.generate.PAGES if name.startswith("python/")}


def test_the_same_code_gives_the_same_pages() -> None:
    for write in docs.generate.PAGES.values():
        assert write() == write()


def test_nothing_is_undocumented() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.SfumatoError)]
    assert [kind.__name__ for kind in kinds if kind.__name__ not in page("errors.md")] == []
    assert [name for name in COMMANDS if f"## sfumato {name}\n" not in page("cli.md")] == []
    index = page("python.md")
    for name in sfumato.__all__:
        value = getattr(sfumato, name)
        if isinstance(value, ModuleType):
            assert f"[`sf.{name}`](" in index
            inner = [] if value is errors else getattr(value, "__all__", [])
            assert [each for each in inner if f"## sf.{name}.{each}\n" not in page(f"python/{name}.md")] == []
        else:
            assert f"## sf.{name}\n" in page("python/sfumato.md")


def written_wordings() -> Iterator[tuple[str, str]]:
    """Every function of the package that makes an error and says so, found in the sources: (module, name)."""
    kinds = {name for name, kind in vars(errors).items() if isinstance(kind, type)}
    root = Path(str(sfumato.__file__)).parent
    for path in root.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.returns is not None and ast.unparse(node.returns) in kinds:
                yield ".".join(("sfumato", *path.relative_to(root).with_suffix("").parts)), node.name


def test_every_wording_of_the_package_is_on_the_page() -> None:
    wordings = [(module, name) for module, name in written_wordings() if module.endswith(("wordings", ".errors"))]
    assert len(wordings) >= 280
    shown = re.findall(r"^\*\*(\w+)\*\*$", page("errors.md"), re.M)
    assert sorted(shown) == sorted(name for _, name in wordings)


def test_questions_make_errors_in_modules_of_wordings_only() -> None:
    """So that none is missing on the page."""
    kinds = {name for name, kind in vars(errors).items() if isinstance(kind, type)}
    for path in (Path(str(sfumato.__file__)).parent / "query").glob("*.py"):
        calls = [
            node.func.id
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
        assert path.stem.endswith("wordings") or not set(calls) & kinds, path


def test_every_sample_still_belongs_to_a_wording() -> None:
    wordings = {
        name
        for module in ("sfumato.errors", *docs.wordings.modules())
        for wording in docs.wordings.wordings_of(module)
        for name in (wording.__name__, f"{module.split('.')[-2]}.{wording.__name__}")
    }
    assert set(docs.wordings.SAMPLES) <= wordings


def test_a_wording_without_a_sample_is_shown_all_the_same() -> None:
    def new_wording(what: str, limit: int, known: object, other: str) -> UsageError:
        return UsageError(f"{what} {limit} {known} {other}.")

    assert docs.wordings.sample(new_wording) == ("epsilon", 30, "…", "…")


def test_the_page_shows_every_part_of_sql_that_has_its_own_reason() -> None:
    for instead in (*FUNCTIONS_INSTEAD, *KINDS.values(), *PARTS.values()):
        assert instead.nearest.replace("|", "\\|") in page("errors.md")


# ---- sql.md


@pytest.fixture
def declared(tmp_path: Path) -> Policy:
    path = tmp_path / "people.toml"
    path.write_text(blocks("sql.md", "toml")[0], encoding="utf-8")
    return load_policy(path)


def test_the_questions_of_the_page_are_accepted(declared: Policy) -> None:
    assert len(blocks("sql.md", "sql")) >= 5
    for question in blocks("sql.md", "sql"):
        assert walk(question, schema=declared.schema, budget=declared.budget).plan.measures


def test_the_refusals_of_the_page_are_refused(declared: Policy) -> None:
    rows = list(table_rows("sql.md", "question | why"))
    assert len(rows) >= 20
    for question, _ in rows:
        with pytest.raises(Refused):
            walk(question.strip("`"), schema=declared.schema, budget=declared.budget)


def test_every_aggregate_is_on_the_page(declared: Policy) -> None:
    shapes = [
        shape for row in table_rows("sql.md", "aggregate | gives | needs") for shape in re.findall(r"`(.*?)`", row[0])
    ]
    listed = {shape.split("(")[0] for shape in shapes}
    known = {kind.sql_name() for kind in (*sql_calls.SPREADS, *sql_calls.LEVELS)} | sql_calls.BINNED
    assert listed >= known - {"VARIANCE_POP"} | {"COUNT", "SUM", "AVG", "MODE", "QUANTILE", "VAR_POP"}
    also = page("sql.md").split("Also written: ")[1].split("\n\n")[0]
    aliases = {"APPROX_COUNT_DISTINCT" if name == "APPROX_DISTINCT" else name for name in sql_calls.ALIASES}
    assert [name for name in (*aliases, *sql_calls.LEVELLED) if f"`{name}" not in also] == []
    for shape in shapes:
        name = "sex" if shape.startswith("MODE") else "age"
        call = shape.replace("x", name).replace("q)", "0.1)").replace("bins", "5").replace("points", "5")
        walk(f"SELECT {call} AS a FROM people", schema=declared.schema, budget=declared.budget)


def test_every_function_is_on_the_page_and_means_what_the_code_says() -> None:
    listed = {
        re.split(r"[( ]", shape.strip("`"))[0]: meaning for shape, meaning, _ in table_rows("sql.md", FUNCTION_HEAD)
    }
    assert {name: meaning for name, meaning in listed.items() if name in FUNCTIONS} == {
        name: function.meaning for name, function in FUNCTIONS.items()
    }
    assert set(listed) - set(FUNCTIONS) == {"BIN", "EXTRACT", "CASE"}
    conditions = " ".join(row[0] for row in table_rows("sql.md", "condition | meaning"))
    assert [word for word in ("LIKE", "ILIKE", "STARTS_WITH", "ENDS_WITH", "CONTAINS") if word not in conditions] == []


@pytest.mark.parametrize("row", list(table_rows("sql.md", FUNCTION_HEAD)), ids=lambda row: row[0])
def test_every_function_of_the_page_can_be_asked(declared: Policy, row: list[str]) -> None:
    """As it stands there, with columns for its letters; and the other spelling is the same."""
    plans = []
    for text in re.findall(r"`([^`]+)`", f"{row[0]} {row[2]}".replace("\\|", "|")):
        call = text if re.search(r"[( ]", text) else re.sub(r"^`\w+", text, row[0]).strip("`")
        call = call.replace(", …)", ")").replace("WHEN … THEN", "WHEN age > 3 THEN").replace("IF(…", "IF(age > 3")
        call = re.sub(r"\b([xytude]|digits|width)\b(?!')", lambda found: LETTERS[found[0]], call)
        plans.append(walk(f"SELECT COUNT({call}) FROM people", schema=declared.schema, budget=declared.budget).plan)
    assert len(set(plans)) == 1


def test_the_keys_of_the_page_group(declared: Policy) -> None:
    rows = list(table_rows("sql.md", "key | its values"))
    assert len(rows) >= 6
    for key in [key for shapes, _ in rows for key in re.findall(r"`([^`]+)`", shapes)]:
        question = f"SELECT COUNT(*) FROM people GROUP BY {key}"
        assert walk(question, schema=declared.schema, budget=declared.budget).plan.groups > 1


def test_the_limits_of_joins_are_those_of_the_code() -> None:
    assert dict(table_rows("joins.md", "what | at most")) == {
        "tables in a question, each as often as it is used": f"{sql_sources.MOST_TABLES}",
        "`JOIN` words in a question": f"{sql.MOST_JOINS}",
        "sub-queries made of one another": f"{sql_sources.MOST_LEVELS}",
        "rows of one person that a join pairs, where both sides may have several": f"{MOST_PAIRS:,}",
    }


def test_the_limits_of_the_page_are_those_of_the_code() -> None:
    limits = dict(table_rows("sql.md", "what | at most"))
    assert limits == {
        "the text of a question": f"{sql.LONGEST:,} characters",
        "nesting of brackets, `NOT` and minus signs": f"{sql_expressions.DEEPEST} levels",
        "calls of functions that are not on this page, one inside another": f"{sql.MOST_CALLS} levels",
        "`JOIN` words, and casts (`::`)": f"{sql.MOST_JOINS} each",
        "terms of a question, as it expands in the plan": f"{sql.MOST_NODES:,}",
        "operators of its SQL, each copy counted": f"{MOST_NODES:,}",
        "work of one row on texts and operators, by declared lengths": f"{MOST_WORK:,} ns",
        "groups": f"{MOST_GROUPS:,}",
        "groups times the bins of `HISTOGRAM`, the points of `CDF` or the values of `MODE`": f"{MOST_GROUPS:,}",
        "groups of `SUM` and `AVG` whose bounds are found": "{:,} of whole numbers, {:,} of others".format(
            *(MOST_COUNTED // Magnitudes(Column("x"), *ends).size for ends in MAGNITUDES)
        ),
        "bins of a `HISTOGRAM`, points of a `CDF`": f"{sql_calls.MOST_BINS:,} and {sql_calls.MOST_POINTS:,}",
        "texts put together by `CONCAT`": f"{MOST_PARTS}",
        "characters of a text that is put together, by declared lengths": f"{LONGEST_MADE:,}",
        "questions of one `session.ask_all`": f"{MOST_QUESTIONS:,}",
        "a number": f"{sql_expressions.LONGEST_NUMBER} characters, "
        f"and in size from 1e-{LARGEST_EXPONENT} to 1e{LARGEST_EXPONENT}",
        "bounds of an expression": f"{float(bind_calls.WIDEST):.0e}".replace("e+", "e"),
    }


def test_the_page_shows_what_a_question_shares_out(declared: Policy) -> None:
    walked = walk("SELECT COUNT(*), AVG(age) FROM people", schema=declared.schema, budget=declared.budget)
    shares = [measure.share / walked.price.amount for measure in walked.plan.measures]
    assert [str(share) for share in shares] == ["1/2", "1/3", "1/6"]
    assert "two thirds\nof its share for the sum and one third for the count" in page("sql.md")


# ---- policy.md


def test_the_complete_example_loads(tmp_path: Path) -> None:
    path = tmp_path / "people.toml"
    path.write_text(blocks("policy.md", "toml")[0], encoding="utf-8")
    policy = load_policy(path)
    assert policy.schema.table == "people"
    assert str(policy.schema.unit) == "person (user_id: at most 100 rows in 5 groups)"
    assert str(policy.budget) == "epsilon 3, delta 1e-06"
    assert (policy.ledger, policy.anchor) == (tmp_path / "ledgers/people.ledger", Path("/mnt/other-disk/people.anchor"))
    assert {type(column) for column in policy.schema.columns.values()} == {Int, Float, Date, Category, Text, Identifier}


def test_the_example_uses_every_section_every_key_and_every_type() -> None:
    example = tomllib.loads(blocks("policy.md", "toml")[0])
    assert set(example) == {*SECTIONS, "columns"}
    for section, keys in SECTIONS.items():
        assert set(example[section]) | ({"kind", "rows"} if section == "unit" else set()) == set(keys)
        listed = [row[0].strip("`") for row in table_rows_of(section)]
        assert listed == list(keys)
    types = [row[0].strip("`") for row in table_rows("policy.md", "type | keys")]
    assert types == list(COLUMN_TYPES)
    assert {declared["type"] for declared in example["columns"].values()} == set(types)


def table_rows_of(section: str) -> list[list[str]]:
    text = page("policy.md").split(f"## `[{section}]`\n")[1].split("\n## ")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| `")]


def test_the_defaults_are_those_of_the_page(tmp_path: Path) -> None:
    path = tmp_path / "any.toml"
    path.write_text(
        '[data]\nsource = "folder/people.csv"\n[unit]\nid = "u"\nmax_rows = 3\n[budget]\nepsilon = 1\n'
        '[columns]\nage = { type = "int" }\n',
        encoding="utf-8",
    )
    policy = load_policy(path)
    assert policy.schema.table == "people"
    assert str(policy.schema.unit) == "person (u: at most 3 rows in 1 group)"
    assert (policy.budget.delta, policy.ledger, policy.anchor) == (0, tmp_path / "folder/people.ledger", None)


@pytest.mark.parametrize(("place", "unit"), [(1, "row"), (2, "person, if nobody has more than 36 rows")])
def test_a_unit_without_an_id_loads(tmp_path: Path, place: int, unit: str) -> None:
    path = tmp_path / "people.toml"
    example = blocks("policy.md", "toml")[0]
    start, end = example.index("[unit]"), example.index("[budget]")
    path.write_text(example[:start] + blocks("policy.md", "toml")[place] + example[end:], encoding="utf-8")
    assert str(load_policy(path).schema.unit) == unit


@pytest.mark.parametrize(("section", "wrong", "said"), list(table_rows("policy.md", "in | you write | it says")))
def test_every_mistake_of_the_page_is_told_as_the_page_says(
    tmp_path: Path, section: str, wrong: str, said: str
) -> None:
    example = blocks("policy.md", "toml")[0]
    head = section.strip("`")
    before, _, rest = example.partition(f"{head}\n")
    after = rest[found.start() :] if (found := re.search(r"^\[", rest, re.M)) else ""
    path = tmp_path / "people.toml"
    lines = "\n".join(line.strip() for line in wrong.strip("`").split("; "))
    path.write_text(f"{before}{head}\n{lines}\n{after}", encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        load_policy(path)
    assert refused.value.message == f"people.toml: {said.strip('`')}"
