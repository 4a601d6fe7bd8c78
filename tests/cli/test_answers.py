"""ask, explain and budget: pages, scripts, errors instead of spends, and how many more fit."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.plots.reading import fetches_nothing, read, runs_nothing_foreign

Shell = Callable[..., tuple[int, str, str]]
COUNT = "SELECT COUNT(*) AS n FROM people"
BY_SEX = "SELECT sex, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY sex"


def test_a_page_in_one_file(shell: Shell, policy: Path, tmp_path: Path) -> None:
    place = tmp_path / "answer.html"
    assert shell("ask", policy, BY_SEX, "--spend", "0.5", "--format", "html", "--output", place) == (0, "", "")
    text = place.read_text(encoding="utf-8")
    reader = read(text)
    runs_nothing_foreign(reader)
    fetches_nothing(reader)
    assert len(reader.all("figure")) == 2
    assert "a value of income below 0 counts as 0, one above 200,000 as 200,000" in text
    assert (
        shell("ask", policy, BY_SEX, "--spend", "0.5", "--format", "html", "--confidence", "0.5")[1].count("50 of") == 2
    )


def test_a_column_that_is_not_read_as_declared_is_told_after_the_noise_alone(shell: Shell, tmp_path: Path) -> None:
    """Decimal commas, and few rows: the same dash and the same words, since nothing else of the rows may be told."""
    policy, said = tmp_path / "t.toml", []
    for name, cells in (("commas", ['"1,5"'] * 2000), ("few", ["1.5"] * 2)):
        (tmp_path / f"{name}.csv").write_text("cost\n" + "\n".join(cells) + "\n", encoding="utf-8")
        policy.write_text(
            f'[data]\nsource = "{name}.csv"\n[ledger]\npath = "{name}.ledger"\n[unit]\nkind = "row"\n'
            "[budget]\nepsilon = 1\n"
            '[columns]\ncost = { type = "float", lower = 0, upper = 232 }\n',
            encoding="utf-8",
        )
        asked = ("ask", policy, f"SELECT AVG(cost) AS c FROM {name}", "--spend", "0.01")
        code, out, err = shell(*asked, "--confidence", "0.9999999")
        assert (code, err) == (0, "")
        said.append([line for line in out.splitlines() if "sfumato check" in line])
    assert said[0] == said[1]
    assert len(said[0]) == 1


def test_a_page_that_stands_still(shell: Shell, policy: Path, tmp_path: Path) -> None:
    place = tmp_path / "answer.html"
    assert shell("ask", policy, BY_SEX, "--spend", "0.5", "--static", "--output", place) == (0, "", "")
    text = place.read_text(encoding="utf-8")
    reader = read(text)
    runs_nothing_foreign(reader)
    fetches_nothing(reader)
    assert (len(reader.all("figure")), len(reader.all("img")), reader.all("script")) == (2, 2, [])
    assert len(text) < 250_000
    assert [title.text for title in reader.all("h1")] == [BY_SEX]


@pytest.mark.parametrize(
    ("command", "missing", "says"),
    [
        (("ask", "people.toml", COUNT, "--spend", "0.5", "--static"), None, "no page is written"),
        (("bounds", "people.toml", "age", "--spend", "1", "--plot", "x.svg", "--static"), None, "no page is written"),
        (
            ("ask", "people.toml", COUNT, "--spend", "1", "--format", "html", "--static"),
            "matplotlib",
            "needs matplotlib",
        ),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_refused_before_it_is_paid(
    shell: Shell, policy: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], missing: str, says: str
) -> None:
    monkeypatch.chdir(policy.parent)
    if missing:
        monkeypatch.setitem(__import__("sys").modules, missing, None)
    code, out, err = shell(*command)
    assert (code, out) == (2, "")
    assert says in err
    assert json.loads(shell("history", policy, "--format", "json")[1]) == []


def test_a_page_without_plotly_is_refused_before_it_is_paid(
    shell: Shell, policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "plotly.graph_objects", None)
    code, _, err = shell("ask", policy, COUNT, "--spend", "0.5", "--format", "html")
    assert code == 2
    assert 'pip install "sfumato[plot]"' in err
    assert json.loads(shell("history", policy, "--format", "json")[1]) == []


@pytest.mark.parametrize(
    ("command", "options", "says"),
    [
        ("ask", ("--output", "missing/a"), "No such file or directory"),
        ("ask", ("--output", "."), "Is a directory"),
        ("ask", ("--output", "people.csv/a"), "Not a directory"),
        ("ask", ("--output", 300 * "a"), "File name too long"),
        ("ask", ("--script", "missing/a"), "No such file or directory"),
        ("ask", ("--format", "html", "--output", "missing/a.html"), "No such file or directory"),
        ("bounds", ("--output", "missing/q"), "No such file or directory"),
        ("bounds", ("--plot", "x.pdf"), "x.pdf is neither .html nor .png nor .svg"),
        ("bounds", ("--plot", "noext"), "noext is neither"),
        ("bounds", ("--plot", "missing/x.png"), "No such file or directory"),
        ("bounds", ("--plot", "x.svg"), 'pip install "sfumato[plot]"'),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_it_is_paid(
    shell: Shell,
    policy: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    options: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.chdir(policy.parent)
    if says.startswith("pip"):
        monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    before = sorted(policy.parent.iterdir())
    code, out, err = shell(command, policy, COUNT if command == "ask" else "age", "--spend", "0.5", *options)
    assert (code, out) == (2, "")
    assert says in err
    assert sorted(policy.parent.iterdir()) == before
    assert json.loads(shell("history", policy, "--format", "json")[1]) == []


def test_an_existing_file_is_written_anew(shell: Shell, policy: Path, tmp_path: Path) -> None:
    place = tmp_path / "answer.csv"
    place.write_text("old " * 1000, encoding="utf-8")
    assert shell("ask", policy, COUNT, "--spend", "0.5", "--format", "csv", "--output", place)[0] == 0
    assert place.read_text(encoding="utf-8").startswith("n,n_low,n_high\n")


def test_the_script_repeats_the_question(shell: Shell, policy: Path, tmp_path: Path) -> None:
    place = tmp_path / "again.py"
    out = shell("ask", policy, BY_SEX, "--spend", "0.5", "--format", "json", "--script", place)[1]
    names: dict[str, object] = {}
    exec(compile(place.read_text(encoding="utf-8"), "again.py", "exec"), names)  # noqa: S102
    assert names["answer"].rows == json.loads(out)["rows"]  # type: ignore[attr-defined]
    assert names["answer"].cached  # type: ignore[attr-defined]


def test_the_table_says_what_is_hidden_and_how_many_fit(shell: Shell, policy: Path) -> None:
    lines = shell("ask", policy, BY_SEX, "--spend", "0.5")[1].splitlines()
    assert lines[-5:] == [
        "Someone who starts at even odds that a person is in the data ends, after this answer, between 37.7 % and "
        "62.3 %.",
        "About 5 more questions like this fit.",
        "income: a value of income below 0 counts as 0, one above 200,000 as 200,000; error bars do not cover what "
        "that changes.",
        "A person counts with at most 2 rows in at most 2 groups; error bars do not cover what is cut off beyond that.",
        "Not counted: rows whose sex is none of m, f.",
    ]


def test_the_notes_of_a_csv_go_to_standard_error(shell: Shell, policy: Path, tmp_path: Path) -> None:
    notes = json.loads(shell("ask", policy, BY_SEX, "--error", "25.5", "--column", "n", "--format", "json")[1])["notes"]
    asked = ("ask", policy, BY_SEX, "--error", "25.5", "--column", "n", "--format", "csv")
    for more in ((), ("--output", tmp_path / "answer.csv")):
        code, out, err = shell(*asked, *more)
        assert (code, len(out.splitlines())) == (0, 0 if more else 3)
        assert err.splitlines()[1:] == notes
        assert re.match(r"Spend 0\.\d+ for ±25\.5", err)


def test_bins_have_their_numbers_in_every_format(shell: Shell, policy: Path) -> None:
    question = "SELECT sex, HISTOGRAM(age, 30) AS h FROM people GROUP BY sex"
    bins = json.loads(shell("ask", policy, question, "--spend", "0.5", "--format", "json")[1])["rows"]
    table = shell("ask", policy, question, "--spend", "0.5")[1]
    first = bins[0]["h"][0]
    assert re.search(rf"f +│ {first['low']} to {first['high']} +│ +{first['count']} │", table)
    more = sum(len(row["h"]) for row in bins) - 20
    assert f"… {more} more: --format json" in table
    header, *lines = shell("ask", policy, question, "--spend", "0.5", "--format", "csv")[1].splitlines()
    assert header == "sex,h_from,h_to,h,h_low,h_high"
    assert len(lines) == more + 20
    assert lines[0].startswith(f"f,{first['low']},{first['high']},{first['count']},")


def test_an_answer_without_rows_prints_in_every_format(shell: Shell, policy: Path) -> None:
    question = f"{BY_SEX} HAVING COUNT(*) > 1000000"
    for form in ("table", "csv", "json", "html"):
        code, out, _ = shell("ask", policy, question, "--spend", "0.5", "--format", form)
        assert code == 0
        assert "income" in out


def test_an_error_instead_of_a_spend(shell: Shell, policy: Path) -> None:
    code, out, _ = shell("explain", policy, COUNT, "--error", "10")
    assert code == 0
    spend = re.match(r"Spend (0\.\d{1,3}) for ±10 at 95 %\.\nQuestion:", out)[1]  # type: ignore[index]
    assert "  n: ±10\n" in out
    assert "  n: ±11\n" in shell("explain", policy, COUNT, "--spend", f"{float(spend) - 0.001:.3f}")[1]
    code, out, _ = shell("ask", policy, BY_SEX, "--error", "25.5", "--column", "n")
    assert code == 0
    assert re.search(r"^Spend 0\.\d{1,3} for ±25\.5 at 95 %\.$", out, flags=re.MULTILINE)
    paid = json.loads(shell("ask", policy, COUNT, "--error", "10", "--format", "json")[1])["cost"]["epsilon"]
    assert paid == float(spend)


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ((), 2, "one of --spend and --error"),
        (("--spend", "0.5", "--error", "10"), 2, "one of --spend and --error"),
        (("--error", "ten"), 2, "error"),
        (("--error", "10"), 2, "several numbers"),
        (("--error", "10", "--column", "income"), 3, "depends on the answer"),
        (("--error", "10", "--column", "city"), 3, "a most frequent value is right or wrong"),
        (("--error", "10"), 2, "--column n, in Python column="),
        (("--spend", "0.5", "--column", "n"), 2, "there is no --error"),
        (("--spend", "0.5", "--delta", "1e-9"), 2, "discovers no keys"),
        (("--spend", "0.5", "--delta", "much"), 2, "delta must be a number"),
    ],
)
@pytest.mark.parametrize("command", ["ask", "explain"])
def test_errors_that_cannot_be_bought(
    shell: Shell, policy: Path, command: str, options: tuple[str, ...], code: int, says: str
) -> None:
    found, out, err = shell(command, policy, BY_SEX.replace("AVG", "MODE(sex) AS city, AVG"), *options)
    assert (found, out) == (code, "")
    assert says in err


BY_CITY = "SELECT city, COUNT(*) AS n FROM people GROUP BY city"


@pytest.fixture
def discovering(policy: Path) -> Path:
    policy.write_text(policy.read_text(encoding="utf-8").replace("epsilon = 3", "epsilon = 3\ndelta = 1e-6"))
    return policy


def test_the_delta_for_keys_can_be_named(shell: Shell, discovering: Path) -> None:
    asked = ("ask", discovering, BY_CITY, "--spend", "1", "--delta", "4e-7", "--format", "json")
    assert json.loads(shell(*asked)[1])["cost"]["delta"] == pytest.approx(9e-7)
    assert "delta 9e-07" in shell("explain", discovering, BY_CITY, "--spend", "1", "--delta", "4e-7")[1]
    by_error = ("explain", discovering, BY_CITY, "--error", "50", "--delta", "4e-7", "--format", "json")
    assert json.loads(shell(*by_error)[1])["cost"]["delta"] == pytest.approx(9e-7)


def test_what_is_left_for_keys_is_shown(shell: Shell, policy: Path, discovering: Path) -> None:
    def left() -> tuple[float, str]:
        table = shell("budget", discovering)[1]
        line = next(line for line in table.splitlines() if "left for keys" in line)
        assert "left for keys,," in shell("budget", discovering, "--format", "csv")[1]
        return json.loads(shell("budget", discovering, "--format", "json")[1])["left_for_keys"], line.split("│")[
            3
        ].strip()

    assert left() == (5e-7, "5e-07")
    assert shell("ask", discovering, BY_CITY, "--spend", "0.5", "--delta", "4e-7")[0] == 0
    assert left() == (pytest.approx(1e-7), "1e-07")
    code, _, err = shell("ask", discovering, BY_CITY, "--spend", "0.6", "--delta", "2e-7")
    assert code == 4
    assert "takes a delta of 2e-07; 1e-07 is left" in err
    assert "--delta, in Python spend=sf.Spend(epsilon, delta)" in err
    assert shell("ask", discovering, BY_CITY, "--spend", "0.6", "--delta", "1e-7")[0] == 0
    assert left() == (0.0, "0")
    code, _, err = shell("ask", discovering, BY_CITY, "--spend", "0.7")
    assert (code, "smaller" in err) == (4, False)
    assert "raise the delta of the limit" in err


def test_without_delta_nothing_is_left_for_keys(shell: Shell, policy: Path) -> None:
    assert "keys" not in shell("budget", policy)[1]
    assert json.loads(shell("budget", policy, "--format", "json")[1])["left_for_keys"] is None


def test_the_budget_says_how_many_more_fit(shell: Shell, policy: Path) -> None:
    assert "more question" not in shell("budget", policy)[1]
    assert "About 30 more questions at epsilon 0.1 fit." in shell("budget", policy, "--spend", "0.1")[1]
    shell("ask", policy, COUNT, "--spend", "0.9")
    assert "About 2 more questions at epsilon 0.9 fit." in shell("budget", policy)[1]
    assert "About 1 more question at epsilon 2 fits." in shell("budget", policy, "--spend", "2")[1]
    content = json.loads(shell("budget", policy, "--format", "json")[1])
    assert (content["spend"], content["more"]) == (0.9, 2)
    assert shell("budget", policy, "--spend", "nothing")[0] == 2
