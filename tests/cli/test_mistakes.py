"""Bad input of every kind: a clear error or a correct answer, an exit code, no traceback, and no charge."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.errors import EngineFailed

Shell = Callable[..., tuple[int, str, str]]
COUNT = "SELECT COUNT(*) AS n FROM people"
HEADER = "user_id,age,income,wealth,sex,city,name\n"
ROW = "7,30,100,5,f,Vinci,Lisa\n"


@pytest.fixture
def refused(shell: Shell, policy: Path) -> Callable[..., str]:
    """What `ask` says on standard error, having charged nothing; the same in JSON."""

    def call(code: int, error: str, question: str = COUNT, *options: object, spend: str = "0.5") -> str:
        arguments = ("ask", policy, question, f"--spend={spend}", *options)
        left, out, err = shell(*arguments)
        assert (left, out) == (code, "")
        assert err.startswith(f"{error}: ")
        assert "Traceback" not in err
        left, out, as_json = shell(*arguments, "--format", "json")
        assert (left, out) == (code, "")
        content = json.loads(as_json)
        assert list(content) == ["error", "message", "hint", *(["at"] if "at" in content else [])]
        assert content["error"] == error
        assert err.splitlines()[0] == f"{error}: {content['message']}"
        assert content["hint"]
        ledger = policy.with_suffix(".ledger")
        if ledger.exists():
            with sf.open(policy) as session:
                assert session.history() == []
        return err

    return call


@pytest.fixture
def answered(shell: Shell, policy: Path) -> Callable[..., dict]:
    def call(question: str = COUNT, spend: str = "1e6") -> dict:
        policy.write_text(policy.read_text().replace("epsilon = 3", "epsilon = 1e9"))
        code, out, err = shell("ask", policy, question, "--spend", spend, "--format", "json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return call


# ---- the question


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("SELECT AVG(agee) AS a FROM people", 'there is no column "agee". Did you mean "age"?'),
        ("SELECT COUNT(*) AS n FROM poeple", 'there is no table "poeple". Did you mean "people"?'),
        ("SELECT SUM(wealth) AS s FROM people", "SUM(wealth) has no bounds."),
        ("SELECT COUNT(name) AS n FROM people", '"name" is an identifier'),
        ("SELECT COUNT(user_id) AS n FROM people", '"user_id" is an identifier'),
        ("what is the average age?", "this is not a question in SQL"),
        ("", "this is not a question in SQL: it is empty"),
        ("SELECT COUNT(*) AS n FROM people; DROP TABLE people", "it must be one statement"),
        ("SELECT " + "(" * 10_000 + "1" + ")" * 10_000, "characters; 10000 are allowed"),
        ("SELECT COUNT(" + "(" * 4_900 + "age" + ")" * 4_900 + ") FROM people", "nested more than 30 levels deep"),
        ("SELECT COUNT(*) FROM people WHERE " + "NOT " * 2_000 + "age > 1", "nested more than 30 levels deep"),
        ("\x00\x01", "this is not a question in SQL"),
        ("SELECT '" + "\ud800" + "'", "not supported"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else None,
)
def test_questions_that_are_refused(refused, question: str, says: str) -> None:
    assert says in refused(3, "Refused", question)


@pytest.mark.parametrize("spend", ["nan", "inf", "-inf", "0", "-1", "True", "abc", "", "1e400", "1e-400", "0x1", "1/2"])
def test_spends_that_are_no_amount(refused, spend: str) -> None:
    assert "spend must " in refused(2, "UsageError", spend=spend)


def test_more_than_is_left(refused) -> None:
    said = refused(4, "BudgetExceeded", spend="3.5")
    assert "this question costs epsilon 3.5; the table has 3 left of 3." in said
    assert "Ask with spend=3 or less, or ask the owner to raise" in said


@pytest.mark.parametrize("confidence", ["0", "1", "2", "nan", "-0.5"])
def test_a_confidence_that_is_none_costs_nothing(refused, confidence: str) -> None:
    assert "confidence must lie between 0 and 1" in refused(2, "UsageError", COUNT, f"--confidence={confidence}")


@pytest.mark.parametrize("option", ["--request=", f"--request={'x' * 201}", "--analyst=", "--analyst=a\nb"])
def test_names_that_are_none(refused, option: str) -> None:
    refused(2, "UsageError", COUNT, option)


# ---- the policy


@pytest.mark.parametrize(
    ("line", "instead", "says"),
    [
        ("[data]", "[data", "people.toml is not valid TOML: "),
        ("[data]", "[date]", 'does not know "date". Did you mean "data"?'),
        ('source = "people.csv"', "", "[data] lacks source"),
        ("epsilon = 3", "", "[budget] lacks epsilon"),
        ("epsilon = 3", 'epsilon = "3"', "epsilon must be a number, not '3'"),
        ("epsilon = 3", "epsilon = true", "epsilon must be a number, not True"),
        ("epsilon = 3", "epsilon = nan", "epsilon must be a finite number"),
        ("epsilon = 3", "epsilon = -1", "epsilon must be greater than 0"),
        ("epsilon = 3", "epsilon = 3\ndelta = 1", "delta must lie between 0 and 1"),
        ("epsilon = 3", "epsilon = 1" + "0" * 5000, "people.toml"),
        ("max_rows = 2", "", "[unit] lacks max_rows"),
        ("max_rows = 2", "max_rows = 1", "max_rows=1 is below max_groups=2"),
        ('id = "user_id"', "", "[unit] lacks id"),
        ("lower = 17, upper = 90", "lower = 17", "lower bound 17 is not below upper bound (missing)"),
        ("lower = 17, upper = 90", "lower = 90, upper = 17", "lower bound 90 is not below upper bound 17"),
        ('type = "text"', 'type = "txt"', 'does not know "txt". Did you mean "text"?'),
        ('type = "text"', "type = [1]", "people.toml"),
        ('type = "text"', 'kind = "text"', "lacks type"),
        ('["m", "f"]', "[]", "a category needs at least one value"),
        ('["m", "f"]', "5", "people.toml"),
        ('["m", "f"]', '["m", 1]', "category values must be all texts"),
        ('["m", "f"]', '["m", "m"]', "listed twice"),
        ('["m", "f"]', "[" * 2000 + "]" * 2000, "people.toml"),
    ],
    ids=lambda value: value[:30],
)
def test_policies_that_are_wrong(refused, policy: Path, line: str, instead: str, says: str) -> None:
    text = policy.read_text()
    assert line in text
    policy.write_text(text.replace(line, instead))
    assert says in refused(2, "UsageError")
    assert not policy.with_suffix(".ledger").exists()


def test_a_policy_that_is_missing_or_no_text(refused, policy: Path) -> None:
    policy.write_bytes(b"\xff\xfe[data]")
    assert "it is not a text file in UTF-8" in refused(5, "DataUnreadable")
    policy.unlink()
    assert "there is no policy file" in refused(5, "DataUnreadable")


def test_who_is_protected_stays_and_the_caps_may_change(refused, shell: Shell, policy: Path) -> None:
    shell("budget", policy)
    text = policy.read_text()
    policy.write_text(text.replace("max_rows = 2", "max_rows = 9"))
    assert shell("ask", policy, COUNT, "--spend", "0.5")[0] == 0
    policy.write_text(text.replace('id = "user_id"', 'id = "name"'))
    assert shell("ask", policy, COUNT, "--spend", "0.5")[0] == 2
    policy.write_text(text)


# ---- the data


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", 'the data has no column "age"'),
        (HEADER.encode() + b"7,30,100,5,f,Vinci,\xe9lise\n", "it is not valid UTF-8"),
        ((HEADER + ROW * 50).encode() + b"7,30\n", "its rows do not all have as many fields as its header"),
        ((HEADER + ROW * 50).encode() + b"7,30,4711,5,f,Vinci,Lisa,9,9\n", "as many fields as its header"),
        ((HEADER + "7,30,4711,5,f,Vinci,Lisa,9,9\n" + ROW * 50).encode(), "as many fields as its header"),
        ((HEADER + ROW).replace("age", "agee").encode(), 'the data has no column "age". Did you mean "agee"?'),
        ((HEADER + ROW).replace("user_id", "id").encode(), 'the data has no column "user_id"'),
    ],
    ids=["empty", "not UTF-8", "short row", "long row", "long first row", "other column", "no unit"],
)
def test_tables_that_cannot_be_read(refused, tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "people.csv").write_bytes(content)
    said = refused(5, "DataUnreadable")
    assert says in said
    for value in ("4711", "Vinci", "Lisa", "lise"):
        assert value not in said


def test_a_file_of_another_kind(refused, policy: Path, tmp_path: Path) -> None:
    text = policy.read_text()
    policy.write_text(text.replace("people.csv", "people.parquet"))
    (tmp_path / "people.parquet").write_text(HEADER + ROW)
    assert "it is damaged or of another kind than its name says" in refused(5, "DataUnreadable")
    policy.write_text(text.replace("people.csv", "people.xlsx"))
    (tmp_path / "people.xlsx").write_text(HEADER + ROW)
    assert "is of no kind that is read here" in refused(5, "DataUnreadable")


def test_a_vanished_file(refused, tmp_path: Path) -> None:
    (tmp_path / "people.csv").unlink()
    assert "there is no file" in refused(5, "DataUnreadable")
    (tmp_path / "people.csv").mkdir()
    assert "there is no file" in refused(5, "DataUnreadable")


def test_an_empty_table_is_answered(answered, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(HEADER)
    answer = answered("SELECT sex, COUNT(*) AS n, SUM(age) AS years FROM people GROUP BY sex")
    assert [(row["sex"], row["n"]) for row in answer["rows"]] == [("f", 0), ("m", 0)]


def test_a_column_of_nulls_is_answered(answered, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(HEADER + "".join(f"{person},,,,,,\n" for person in range(50)))
    answer = answered("SELECT COUNT(*) AS n, COUNT(age) AS ages, SUM(age) AS years, AVG(age) AS age FROM people")
    row = answer["rows"][0]
    assert (row["n"], row["ages"], row["years"]) == (50, 0, 0)
    assert 17 <= row["age"] <= 90


def test_values_that_do_not_fit_their_declaration_count_as_null(answered, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(HEADER + "1,thirty,x,,?,,\n2,1e999,nan,,f,,\n3,40,inf,,f,,\n")
    row = answered("SELECT COUNT(*) AS n, COUNT(age) AS ages, COUNT(income) AS incomes FROM people")["rows"][0]
    assert (row["n"], row["ages"], row["incomes"]) == (3, 2, 1)  # 1e999 is beyond every bound, as infinity is


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_other_separators_are_recognised_by_the_header(answered, tmp_path: Path, separator: str) -> None:
    (tmp_path / "people.csv").write_text((HEADER + ROW * 3).replace(",", separator))
    assert answered()["rows"] == [{"n": 2}]


def test_a_row_that_looks_like_a_comment_is_a_row(answered, tmp_path: Path) -> None:
    rows = "".join(f"#{person},30,100,5,f,Vinci,Lisa\n" for person in range(30))
    (tmp_path / "people.csv").write_text(HEADER + rows)
    assert answered()["rows"] == [{"n": 30}]


def test_a_person_with_a_million_rows_counts_as_two(answered, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(HEADER + "8,30,100,5,m,Vinci,Leo\n" + ROW * 1_000_000)
    answer = answered("SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY sex")
    assert answer["rows"] == [{"sex": "f", "n": 2, "age": 30}, {"sex": "m", "n": 1, "age": 30}]


# ---- the shell itself


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["ask", "POLICY", COUNT], "--spend"),
        (["ask", "POLICY"], "question"),
        (["ask", "POLICY", COUNT, "--spend", "0.5", "--confidnce", "0.5"], "--confidnce"),
        (["ask", "POLICY", COUNT, "--spend", "0.5", "--confidence", "abc"], "--confidence"),
        (["ask", "POLICY", COUNT, "more", "--spend", "0.5"], "more"),
        (["explain", "POLICY", COUNT], "--spend"),
        (["ledger", "analyst", "POLICY", "press"], "--epsilon"),
        (["ledger", "forget", "POLICY"], "forget"),
        (["budgte", "POLICY"], "budgte"),
        (["--spend"], "--spend"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else None,
)
def test_wrong_options_leave_with_code_two(shell: Shell, policy: Path, arguments: list[str], says: str) -> None:
    given = [str(policy) if argument == "POLICY" else argument for argument in arguments]
    code, out, err = shell(*given)
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err
    for form in (["--format", "json"], ["--format=json"]):
        code, out, err = shell(*given, *form)
        assert (code, out) == (2, "")
        content = json.loads(err)
        assert list(content) == ["error", "message", "hint", *(["at"] if "at" in content else [])]
        assert content["error"] == "UsageError"
        assert says in content["message"]
    assert not policy.with_suffix(".ledger").exists() or shell("history", policy, "--format", "csv")[1].count("\n") == 1


def test_an_unknown_format_names_the_known_ones(shell: Shell, policy: Path) -> None:
    code, out, err = shell("ask", policy, COUNT, "--spend", "0.5", "--format", "xml")
    assert (code, out) == (2, "")
    for form in ("table", "json", "csv"):
        assert form in err


def test_a_failing_engine_leaves_with_code_five(shell: Shell, policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise EngineFailed("the engine could not finish this question.", "The charge stands.")

    monkeypatch.setattr("sfumato.engines.duckdb.engine.DuckDBEngine.rows", fail)
    code, out, err = shell("ask", policy, COUNT, "--spend", "0.5", "--format", "json")
    assert (code, out) == (5, "")
    assert json.loads(err)["error"] == "EngineFailed"


@pytest.mark.parametrize("command", ["ask", "explain", "budget", "history"])
def test_a_file_that_cannot_be_written_is_named(shell: Shell, policy: Path, tmp_path: Path, command: str) -> None:
    question = [COUNT, "--spend", "0.5"] if command in ("ask", "explain") else []
    for target in (tmp_path, tmp_path / "missing" / "file"):
        code, out, err = shell(command, policy, *question, "--output", target)
        assert (code, out) == (2, "")
        assert "cannot be written" in err


def test_an_unexpected_error_of_our_own_is_not_dressed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only errors of ours become a sentence; a bug stays visible as one."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(main, "app", broken)
    with pytest.raises(ZeroDivisionError):
        main.run(["budget", "people.toml"])
