"""Every command of the walk in every format: init, ask, explain, budget, history, ledger."""

import csv
import io
import json
import re
import shlex
import tomllib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato.schema.draft import draft_policy
from sfumato.visible import visible
from tests.ledger.tampering import edit

Shell = Callable[..., tuple[int, str, str]]
COUNT = "SELECT COUNT(*) AS n FROM people"
BY_SEX = "SELECT sex, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY sex"


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def said(shell: Shell) -> Callable[..., str]:
    """What a command that succeeds says; nothing may be on standard error but the notes of a CSV."""

    def call(*arguments: object) -> str:
        code, out, err = shell(*arguments)
        assert code == 0
        assert not err or (arguments[0] == "ask" and "csv" in arguments)
        return out

    return call


# ---- init


def test_a_draft_says_what_sessions_and_epsilon_say(tmp_path: Path) -> None:
    line = next(line for line in draft_policy("p.csv", "p", {}).splitlines() if "at spend 0.5" in line)
    with_delta, many, without, few = map(int, re.findall(r"(?<![\d.])\d+(?![\d.])", line.replace("delta = 0", "")))
    table, whole = pa.table({"x": [1] * 10}), {"x": sf.Int()}
    for place, (budget, error, left) in enumerate(
        [(sf.Budget(3, 1e-6), with_delta, many), (sf.Budget(3), without, few)]
    ):
        with sf.protect(
            table, unit=sf.Row(), columns=whole, budget=budget, ledger=tmp_path / f"{place}", table="t"
        ) as one:
            assert one.questions_left(0.5) == left
            assert one.explain("SELECT COUNT(*) AS n FROM t", spend=0.5).expected_error == {"n": error}


def test_a_draft_with_an_id_says_what_people_and_what_rows_cost(tmp_path: Path) -> None:
    draft = draft_policy("p.csv", "p", {"user_id": "INT"})
    people, rows = (line for line in draft.splitlines() if "within ±" in line)
    assert people.startswith("# One count of people at spend 0.5 is within ±")
    assert rows.startswith("# A count of rows")
    drafted = tomllib.loads(draft)
    person = sf.Person("user_id", max_rows=drafted["unit"]["max_rows"], max_groups=drafted["unit"]["max_groups"])
    told = list(zip(*(re.findall(r"±(\d+)", line) for line in (people, rows)), strict=True))
    questions = ("SELECT COUNT(DISTINCT user_id) AS n FROM t", "SELECT COUNT(*) AS n FROM t")
    for place, (budget, errors) in enumerate(zip((sf.Budget(3, 1e-6), sf.Budget(3)), told, strict=True)):
        with sf.protect(
            pa.table({"user_id": [1] * 10, "x": [1] * 10}),
            unit=person,
            columns={"x": sf.Int()},
            budget=budget,
            ledger=tmp_path / f"{place}",
            table="t",
        ) as one:
            for question, error in zip(questions, errors, strict=True):
                assert one.explain(question, spend=0.5).expected_error == {"n": int(error)}


def test_init_drafts_a_policy_that_can_be_asked_at_once(said, policy: Path) -> None:
    policy.unlink()
    out = said("init", policy.with_suffix(".csv"))
    assert out.startswith(f"Wrote {policy}.")
    draft = tomllib.loads(policy.read_text())
    assert draft["data"] == {"source": "people.csv", "table": "people"}
    assert draft["unit"]["id"] == "user_id"
    assert draft["columns"]["age"] == {"type": "int", "lower": 0, "upper": 120}
    assert draft["columns"]["income"] == {"type": "float"}
    assert draft["columns"]["sex"] == {"type": "text"}
    assert draft["columns"]["name"] == {"type": "identifier"}
    assert "user_id" not in draft["columns"]
    said("ask", policy, COUNT, "--spend", "0.1")


def test_init_looks_at_no_value(said, tmp_path: Path) -> None:
    """Two tables with the same names and types get the same draft."""
    drafts = []
    for name, rows in (("a", [1, 2, 3]), ("b", [70, 80, 90])):
        folder = tmp_path / name
        folder.mkdir()
        pyarrow.parquet.write_table(pa.table({"user_id": rows, "score": rows}), folder / "people.parquet")
        said("init", folder / "people.parquet")
        drafts.append((folder / "people.toml").read_text())
    assert drafts[0] == drafts[1]


def test_init_recognises_two_values_and_decimal_commas_however_the_table_is_kept(said, tmp_path: Path) -> None:
    cells = {
        "SubjID": ["a", "b", "c"],
        "smoker": ["Yes", "No", None],
        "died": [0, 1, 1],
        "alone": ["yes", "YES", "no"],  # spelt in two ways: a list of two would leave one out
        "price": ["12,5", "7", "1,25"],
        "note": ["no", "y", "n"],
        "one": [1, 1, 1],
    }
    pyarrow.csv.write_csv(pa.table(cells), tmp_path / "a.csv")
    pyarrow.parquet.write_table(pa.table(cells), tmp_path / "b.parquet")
    drafts = []
    for name in ("a.csv", "b.parquet"):
        out = said("init", tmp_path / name)
        assert (
            out.splitlines()[-1]
            == 'Protected: everything with one "SubjID", because its name is that of a person\'s id.'
        )
        text = (tmp_path / name).with_suffix(".toml").read_text()
        drafts.append(tomllib.loads(text))
        assert "12.5 for 12,5" in next(line for line in text.splitlines() if line.startswith("price"))
    for draft in drafts:
        assert draft["unit"]["id"] == "SubjID"
        kinds = {name: one["type"] for name, one in draft["columns"].items()}
        assert kinds | {"smoker": "", "alone": ""} == {
            "smoker": "", "died": "category", "alone": "", "price": "text", "note": "text", "one": "int"
        }  # fmt: skip
        assert draft["columns"]["died"]["values"] == [0, 1]
    assert drafts[1]["columns"]["smoker"] == {"type": "category", "values": ["No", "Yes"]}
    assert drafts[1]["columns"]["alone"] == {"type": "text"}


def test_init_says_that_every_row_is_protected_where_no_id_is_found(said, tmp_path: Path) -> None:
    pyarrow.csv.write_csv(pa.table({"age": [1, 2], "paid": [3, 4]}), tmp_path / "p.csv")
    last = said("init", tmp_path / "p.csv").splitlines()[-1]
    assert last.startswith("Protected: every row by itself")
    assert "several rows" in last


def test_init_keeps_an_existing_policy(shell: Shell, policy: Path, tmp_path: Path) -> None:
    before = policy.read_text()
    code, _, err = shell("init", tmp_path / "people.csv")
    assert code == 2
    assert "exists already" in err
    assert policy.read_text() == before
    assert shell("init", tmp_path / "people.csv", "--force")[0] == 0
    assert policy.read_text() != before
    assert shell("init", tmp_path / "people.csv", "--output", tmp_path / "other.toml")[0] == 0
    assert (tmp_path / "other.toml").read_text() == policy.read_text()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("missing.csv", None, "there is no file"),
        ("people.xlsx", "PK", "of no kind"),
        ("people.csv", "", "its first line names no column"),
        ("people.csv", "\n\n", "its first line names no column"),
        ("people.jsonl", "", "a line of it is no JSON object, or it is empty"),
        ("people.jsonl", "\n", "a line of it is no JSON object"),
        ("people.jsonl", '{"a": 1}\n3\n{"a": 2}\n', "a line of it is no JSON object"),
        ("people.jsonl", "[1]\n", "a line of it is no JSON object"),
    ],
)
def test_init_says_what_it_cannot_read(shell: Shell, tmp_path: Path, name: str, content: str | None, says: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    code, out, err = shell("init", tmp_path / name)
    assert (code, out) == (5, "")
    assert says in err
    assert not (tmp_path / "people.toml").exists()


def test_init_refuses_a_directory_as_ask_does(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "people"
    folder.mkdir()
    for name, column in (("a", "age"), ("b", "ages")):
        pyarrow.parquet.write_table(pa.table({column: [1]}), folder / f"{name}.parquet")
    code, _, err = shell("init", folder)
    assert code == 5
    assert "b.parquet of the directory people has other columns than the first file there." in err
    draft = (
        '[data]\nsource = "people"\n[unit]\nkind = "row"\n[budget]\nepsilon = 1\n[columns]\nage = { type = "int" }\n'
    )
    (tmp_path / "people.toml").write_text(draft, encoding="utf-8")
    assert shell("ask", tmp_path / "people.toml", COUNT, "--spend", "0.1")[2] == err


@pytest.mark.parametrize("stem", ["people", "my people", "order", "Grüße", "select", "it's", 'a"b', "$HOME", "2024"])
def test_the_command_that_init_suggests_works_as_typed(said, tmp_path: Path, stem: str) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / f"{stem}.csv").write_text("age\n30\n", encoding="utf-8")
    suggested = said("init", folder / f"{stem}.csv").splitlines()[1]
    program, *arguments = shlex.split(suggested)
    assert program == "sfumato"
    said(*arguments)
    assert ('FROM people" --spend' in suggested) == (stem == "people")


def test_init_says_where_it_cannot_write(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n30\n", encoding="utf-8")
    code, _, err = shell("init", tmp_path / "people.csv", "--output", tmp_path / "missing" / "people.toml")
    assert (code, "cannot be written" in err) == (2, True)


# ---- ask


def test_ask_prints_a_table_with_errors_and_price(said, policy: Path) -> None:
    out = said("ask", policy, BY_SEX, "--spend", "0.5")
    for part in ("sex", "n ±", "│ f", "│ m", "± at 95 %.", "Protects one person (user_id"):
        assert part in out
    assert "income ±" in out or "income at 95 %" in out  # both ends, where noise makes a bar lopsided
    assert "Cost epsilon 0.5. Spent in all epsilon 0.5; left epsilon 2.5." in out
    again = said("ask", policy, BY_SEX, "--spend", "0.5")
    assert "Asked before on 20" in again
    assert ": free. " in again
    assert again.splitlines()[:6] == out.splitlines()[:6]


def test_ask_prints_json(said, policy: Path) -> None:
    out = json.loads(said("ask", policy, BY_SEX, "--spend", "0.5", "--format", "json", "--confidence", "0.8"))
    assert (out["columns"], out["confidence"], out["cached"]) == (["sex", "n", "income"], 0.8, False)
    again = json.loads(said("ask", policy, BY_SEX, "--spend=0.5", "--format=json", "--confidence=0.8"))
    assert again == {**out, "cached": True}


def test_ask_prints_csv(said, policy: Path) -> None:
    rows = read_csv(said("ask", policy, BY_SEX, "--spend", "0.5", "--format", "csv"))
    assert list(rows[0]) == ["sex", "n", "income", "n_low", "n_high", "income_low", "income_high"]
    assert [row["sex"] for row in rows] == ["f", "m"]
    for row in rows:
        assert int(row["n_low"]) <= int(row["n"]) <= int(row["n_high"])


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_ask_writes_to_a_file(said, policy: Path, tmp_path: Path, form: str) -> None:
    shown = said("ask", policy, BY_SEX, "--spend", "0.5", "--format", form)
    target = tmp_path / "answer"
    assert said("ask", policy, BY_SEX, "--spend", "0.5", "--format", form, "--output", target) == ""
    if form == "csv":
        assert target.read_text(encoding="utf-8") == shown
    else:
        assert "income" in target.read_text(encoding="utf-8")


def test_ask_fresh_request_and_analyst(said, policy: Path) -> None:
    ask = ("ask", policy, COUNT, "--spend", "0.25", "--format", "json")
    said(*ask)
    assert json.loads(said(*ask, "--fresh"))["cached"] is False
    assert json.loads(said(*ask, "--analyst", "press"))["cached"] is False
    said(*ask, "--fresh", "--request", "id-17")
    assert json.loads(said(*ask, "--fresh", "--request", "id-17"))["cached"] is True
    lines = json.loads(said("history", policy, "--format", "json"))
    assert [line["analyst"] for line in lines] == ["analyst", "analyst", "press", "analyst"]
    assert [line["request"] for line in lines] == [None, None, None, "id-17"]


def test_names_given_by_the_analyst_never_hide_a_number(said, policy: Path) -> None:
    question = 'SELECT COUNT(*) AS n, COUNT(age) AS n_low, COUNT(income) AS "n ±" FROM people'
    ask = ("ask", policy, question, "--spend", "0.5", "--format")
    true = json.loads(said(*ask, "json"))["rows"][0]
    row = read_csv(said(*ask, "csv"))[0]
    assert {name: int(row[name]) for name in true} == true
    assert len(row) == 9
    table = said(*ask, "table")
    for number in true.values():
        assert f" {number:,} " in table


def test_names_that_look_like_markup_are_printed_as_they_are(said, policy: Path) -> None:
    for name in ("[/b]", "[red]x[/red]", "[link=x]"):
        assert name in said("ask", policy, f'SELECT COUNT(*) AS "{name}" FROM people', "--spend", "0.1")


@pytest.mark.parametrize("start", [*"=+-@|%＝＋－＠｜％﹦﹢﹣﹫﹪", " =", "\t=", "\r="])
def test_no_cell_of_a_csv_is_a_formula(said, policy: Path, start: str) -> None:
    formula = f"{start}HYPERLINK(1)"
    text = policy.read_text().replace('["m", "f"]', json.dumps(["m", formula]))
    policy.write_text(text)
    rows = list(csv.reader(io.StringIO(said("ask", policy, BY_SEX, "--spend", "0.5", "--format", "csv"))))
    assert sorted(row[0] for row in rows[1:]) == sorted(["m", f"'{visible(formula)}"])
    if start.isprintable():
        question = f'SELECT COUNT(*) AS "{formula}" FROM people'
        header = next(csv.reader(io.StringIO(said("ask", policy, question, "--spend", "0.5", "--format", "csv"))))
        assert all(name.startswith("'") for name in header)


def test_a_negative_number_in_a_csv_stays_a_number(said, policy: Path, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("user_id,age,income,wealth,sex,city,name\n")
    seen = []
    for number in range(20):
        question = f"SELECT COUNT(*) AS n FROM people WHERE age > {20 + number}"
        seen.append(int(read_csv(said("ask", policy, question, "--spend", "0.1", "--format", "csv"))[0]["n"]))
    assert min(seen) < 0


# ---- explain


def test_explain_prints_text_json_and_csv(said, policy: Path, tmp_path: Path) -> None:
    explain = ("explain", policy, BY_SEX, "--spend", "0.5", "--format")
    short = said(*explain, "table")
    assert "Error bars (95 %):" in short
    assert "shown by --sql" in short
    assert said(*explain, "table", "--sql").startswith(short[: short.index("SQL:")])
    assert "SELECT" in said(*explain, "table", "--sql").split("\nSQL:\n")[1]
    content = json.loads(said(*explain, "json"))
    assert content["groups"] == 2
    rows = read_csv(said(*explain, "csv"))
    assert list(rows[0]) == ["measures", "sensitivity", "rule", "share"]
    assert [row["sensitivity"] for row in rows] == [str(step["sensitivity"]) for step in content["steps"]]
    assert said(*explain, "json", "--output", tmp_path / "plan.json") == ""
    assert json.loads((tmp_path / "plan.json").read_text()) == content
    assert json.loads(said("history", policy, "--format", "json")) == []


# ---- budget and history


def test_budget_prints_table_json_and_csv(said, policy: Path, tmp_path: Path) -> None:
    said("ask", policy, COUNT, "--spend", "0.5")
    table = said("budget", policy)
    for part in ("limit", "spent", "left", "2.5", "Protects one person", "1 charge"):
        assert part in table
    content = json.loads(said("budget", policy, "--format", "json"))
    assert content["limit"] == {"epsilon": 3, "delta": 0}
    assert content["spent"] == {"epsilon": 0.5, "delta": 0}
    assert content["left"] == {"epsilon": 2.5, "delta": 0}
    assert (content["charges"], content["analyst"]) == (1, "analyst")
    rows = read_csv(said("budget", policy, "--format", "csv"))
    assert [(row[""], float(row["epsilon"]), float(row["delta"])) for row in rows] == [
        ("limit", 3, 0),
        ("spent", 0.5, 0),
        ("left", 2.5, 0),
    ]
    assert said("budget", policy, "--format", "json", "--output", tmp_path / "budget.json") == ""
    assert json.loads((tmp_path / "budget.json").read_text()) == content


def test_budget_says_that_parts_need_not_add_up(said, policy: Path) -> None:
    hint = "need not add up to the limit"
    assert hint not in said("budget", policy)
    policy.write_text(policy.read_text().replace("epsilon = 3", "epsilon = 3\ndelta = 1e-6") + "\n")
    policy.with_suffix(".ledger").unlink()
    policy.with_suffix(".ledger.anchor").unlink()
    assert hint in said("budget", policy)


def test_what_budget_prints_as_left_is_granted(said, policy: Path) -> None:
    policy.write_text(policy.read_text().replace("epsilon = 3", "epsilon = 40\ndelta = 1e-6"))
    for number in range(8):
        footer = said("ask", policy, COUNT, "--spend", f"{1 + number / 7:.3f}")
        printed = {row[""]: row["epsilon"] for row in read_csv(said("budget", policy, "--format", "csv"))}
        exactly = json.loads(said("budget", policy, "--format", "json"))
        assert Decimal(printed["left"]) <= Decimal(repr(exactly["left"]["epsilon"]))
        beside = re.search(r"left epsilon ([\d.]+\d)", footer)[1]
        assert Decimal(beside) <= Decimal(repr(exactly["left"]["epsilon"]))


def test_ledger_show_lists_every_entry(said, shell: Shell, policy: Path, tmp_path: Path) -> None:
    said("ledger", "analyst", policy, "press", "--epsilon", 0.5)
    said("ask", policy, COUNT, "--spend", 0.5)
    lines = json.loads(said("ledger", "show", policy, "--format", "json"))
    assert [line["kind"] for line in lines] == ["open", "analyst", "charge", "release"]
    assert lines[1]["says"] == "limit epsilon 0.5 of the table's"
    assert read_csv(said("ledger", "show", policy, "--format", "csv"))[1]["analyst"] == "press"
    assert "release of entry 3" in said("ledger", "show", policy)
    said("ledger", "show", policy, "--output", tmp_path / "all.txt")
    assert "release of entry 3" in (tmp_path / "all.txt").read_text()


def test_ledger_analyst_takes_no_name_that_acts(shell: Shell, said, policy: Path) -> None:
    code, out, err = shell("ledger", "analyst", policy, "x\x1b[2Jy", "--epsilon", 1)
    assert (code, out) == (2, "")
    assert "\x1b" not in err
    code, out, err = shell("ledger", "analyst", policy, "x\u3164y", "--epsilon", 1)
    assert (code, out) == (2, "")
    assert r"'x\u3164y' looks like another" in err
    assert said("ledger", "analyst", policy, "x\u1160y", "--epsilon", 1).startswith(r'"x\u1160y" may spend')


def test_history_prints_table_json_and_csv(said, policy: Path, tmp_path: Path) -> None:
    assert json.loads(said("history", policy, "--format", "json")) == []
    assert read_csv(said("history", policy, "--format", "csv")) == []
    said("ask", policy, BY_SEX, "--spend", "0.5")
    table = said("history", policy)
    assert "discrete_laplace" in table
    line = json.loads(said("history", policy, "--format", "json"))[0]
    assert (line["entry"], line["spend"], line["analyst"]) == (2, 0.5, "analyst")
    assert len(line["releases"]) == 3
    row = read_csv(said("history", policy, "--format", "csv"))[0]
    assert (row["entry"], row["spend"]) == ("2", "0.5")
    assert [row["asked"]] == line["questions"] == [BY_SEX]
    assert said("history", policy, "--output", tmp_path / "h") == ""
    assert "discrete_laplace" in (tmp_path / "h").read_text()


# ---- ledger


def test_ledger_verify(said, shell: Shell, policy: Path) -> None:
    said("ask", policy, COUNT, "--spend", "0.5")
    assert said("ledger", "verify", policy) == "3 entries, all sound.\n"
    verified = {"ledger": "people.ledger", "entries": 3, "verified": True}
    assert json.loads(said("ledger", "verify", policy, "--format", "json")) == verified
    assert said("ledger", "verify", policy, "--format", "csv") == "ledger,entries,verified\npeople.ledger,3,True\n"
    anchor = policy.with_suffix(".ledger.anchor")
    anchor.unlink()
    code, _, err = shell("ledger", "verify", policy, "--format", "json")
    assert code == 5
    assert json.loads(err)["error"] == "LedgerDamaged"
    assert "--re-anchor" in json.loads(err)["hint"]
    assert said("ledger", "verify", policy, "--re-anchor") == "3 entries, all sound.\n"
    assert said("ledger", "verify", policy) == "3 entries, all sound.\n"


@pytest.mark.parametrize("body", ["rubbish", "{}", "[]"])
@pytest.mark.parametrize("entry", [1, 2, 3])
def test_a_tampered_ledger_is_reported_by_every_command(
    said, shell: Shell, policy: Path, body: str, entry: int
) -> None:
    said("ask", policy, COUNT, "--spend", "0.5")
    edit(policy.with_suffix(".ledger"), f"UPDATE entry SET body = '{body}' WHERE seq = {entry}")
    code, out, err = shell("ledger", "verify", policy)
    assert (code, out) == (5, "")
    assert err.startswith(f"LedgerDamaged: entry {entry} of the ledger does not match its hash.")
    code, out, err = shell("ask", policy, COUNT, "--spend", "0.5")
    assert (code, out) == (5, "")
    assert err.startswith(f"LedgerDamaged: entry {entry} of the ledger does not match its hash.")


def test_ledger_raise(said, shell: Shell, policy: Path) -> None:
    said("ask", policy, COUNT, "--spend", "3")
    policy.write_text(policy.read_text().replace("epsilon = 3", "epsilon = 4.5"))
    code, _, err = shell("ask", policy, BY_SEX, "--spend", "1")
    assert code == 2
    assert "the limit in force is epsilon 3, the policy now says epsilon 4.5" in err
    assert said("ledger", "raise", policy) == "The limit is now epsilon 4.5.\n"
    assert json.loads(said("ledger", "raise", policy, "--format", "json")) == {"epsilon": 4.5, "delta": 0}
    assert said("ledger", "raise", policy, "--format", "csv") == "epsilon,delta\n4.5,0.0\n"
    said("ask", policy, BY_SEX, "--spend", "1")


def test_ledger_analyst(said, shell: Shell, policy: Path) -> None:
    assert said("ledger", "analyst", policy, "press", "--epsilon", "0.5") == '"press" may spend epsilon 0.5 in all.\n'
    content = json.loads(said("ledger", "analyst", policy, "press", "--epsilon", "0.4", "--format", "json"))
    assert content == {"analyst": "press", "epsilon": 0.4}
    said("ledger", "analyst", policy, "=press", "--epsilon", "0.5", "--format", "csv")
    code, _, err = shell("ask", policy, COUNT, "--spend", "0.5", "--analyst", "press")
    assert code == 4
    assert 'analyst "press" has 0.4 left of 0.4' in err
    left = json.loads(said("budget", policy, "--analyst", "press", "--format", "json"))["left"]
    assert left == {"epsilon": 0.4, "delta": 0}


def test_opened_ledgers_are_closed_again(said, policy: Path) -> None:
    """A closed SQLite ledger leaves no log behind: the file alone can be copied."""
    said("ask", policy, COUNT, "--spend", "0.5")
    for arguments in (["verify", policy], ["raise", policy], ["analyst", policy, "press", "--epsilon", "1"]):
        said("ledger", *arguments)
        assert not policy.with_suffix(".ledger-wal").exists()
