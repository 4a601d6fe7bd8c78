"""`sfumato noise`: values typed in the shell, three formats, what N releases cost, and exit codes."""

import csv
import io
import json

import pytest

from sfumato.cli.main import run

PRICE = ["--sensitivity", "1", "--epsilon", "1"]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]):
    def call(*arguments: str, code: int = 0) -> tuple[str, str]:
        with pytest.raises(SystemExit) as left:
            run(["noise", *arguments])
        out, err = capsys.readouterr()
        assert (left.value.code or 0) == code, err
        return out, err

    return call


@pytest.mark.parametrize("value", ["42", "-5", "-1e-5", "-.5", "0.1"])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_a_real_number(shell, mechanism: str, value: str) -> None:
    extra = ["--delta", "1e-6"] if mechanism == "gaussian" else []
    out, _ = shell(mechanism, value, *PRICE, *extra, "--count", "5", "--format", "json")
    answer = json.loads(out)
    assert answer["mechanism"] == mechanism
    assert len(set(answer["values"])) == 5
    assert all(abs(drawn - float(value)) < 1000 for drawn in answer["values"])
    assert (answer["epsilon"], answer["delta"]) == (1, 1e-6 if mechanism == "gaussian" else 0)
    assert answer["error95"] > 2.9
    assert answer["total"]["epsilon"] == 5


def test_a_negative_number_after_two_dashes(shell) -> None:
    out, _ = shell("geometric", *PRICE, "--format", "json", "--", "-5")
    assert abs(json.loads(out)["values"][0] + 5) < 1000


def test_a_whole_number_stays_whole(shell) -> None:
    out, _ = shell("geometric", str(10**50), *PRICE, "--format", "json")
    answer = json.loads(out)
    assert abs(answer["values"][0] - 10**50) < 1000
    assert answer["error95"] == 3


def test_rho_is_a_price(shell) -> None:
    answer = json.loads(shell("gaussian", "5", "--sensitivity", "1", "--rho", "0.1", "--format", "json")[0])
    assert (answer["rho"], answer["epsilon"], answer["delta"]) == (0.1, None, None)


def test_the_table_says_what_it_cost(shell) -> None:
    out, _ = shell("laplace", "42", *PRICE, "--count", "3")
    assert "95 % of draws are within ±2.99573; costs epsilon 1. 3 releases cost epsilon 3 together." in out
    out, _ = shell("gaussian", "42", *PRICE, "--delta", "1e-6", "--count", "2")
    assert "costs epsilon 1 and delta 1e-06. 2 releases cost epsilon 2 and delta 2e-06 together." in out


def test_csv_holds_values_only_and_the_price_goes_beside_it(shell) -> None:
    out, err = shell("laplace", "42", *PRICE, "--count", "4", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [list(row) for row in rows] == [["value"]] * 4
    assert all(abs(float(row["value"]) - 42) < 1000 for row in rows)
    assert "4 releases cost epsilon 4" in err


@pytest.mark.parametrize("mechanism", ["exponential", "permute-and-flip"])
def test_a_choice(shell, mechanism: str) -> None:
    pairs = ["--candidate", "tea=1.5", "--candidate", "a=b=1000000"]
    answer = json.loads(shell(mechanism, *pairs, *PRICE, "--count", "10", "--format", "json")[0])
    assert answer["values"] == ["a=b"] * 10
    assert answer["total"] == {"epsilon": 10}
    out, _ = shell(mechanism, "--candidate", "[red]x[/red]=3", *PRICE, "--monotone")
    assert "[red]x[/red]" in out
    assert "Costs epsilon 1." in out


def test_scores_are_read_as_the_decimals_typed(shell) -> None:
    pairs = ["--candidate", "a=0.1", "--candidate", "b=0.3"]
    out, _ = shell("exponential", *pairs, "--sensitivity", "0.1", "--epsilon", "1", "--format", "csv")
    assert out in ("value\na\n", "value\nb\n")


def test_interval(shell) -> None:
    out, _ = shell("interval", "laplace", *PRICE)
    assert out == "95 % of draws are within ±2.99573.\n"
    out, _ = shell("interval", "geometric", *PRICE, "--confidence", "0.5", "--format", "json")
    assert json.loads(out) == {"mechanism": "geometric", "interval": 1, "confidence": 0.5}
    out, _ = shell("interval", "gaussian", *PRICE, "--delta", "1e-6", "--entries", "3", "--format", "csv")
    assert out.startswith("mechanism,interval,confidence\ngaussian,")


def test_epsilon_for(shell) -> None:
    out, _ = shell("epsilon-for", "laplace", "--sensitivity", "1", "--error", "10")
    assert out == "epsilon 0.299573 keeps 95 % of draws within ±10.\n"
    out, _ = shell(
        "epsilon-for", "gaussian", "--sensitivity", "1", "--error", "10", "--delta", "1e-6", "--format", "json"
    )
    assert json.loads(out)["epsilon"] == pytest.approx(0.816, abs=1e-3)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["laplace", "abc", *PRICE], "noise cannot be added to a text"),
        (["laplace", "nan", *PRICE], "infinite, not a number"),
        (["laplace", "1", "--sensitivity", "abc", "--epsilon", "1"], "sensitivity must be a number, not 'abc'"),
        (["laplace", "1", "--sensitivity", "-1", "--epsilon", "1"], "greater than 0"),
        (["laplace", "1", "--sensitivity", "1", "--epsilon", "inf"], "epsilon must be a finite number"),
        (["geometric", "1.5", *PRICE], "whole numbers"),
        (["gaussian", "1", *PRICE], "delta is missing"),
        (["gaussian", "1", *PRICE, "--rho", "1"], "together"),
        (["exponential", "--candidate", "a", *PRICE], "lacks its name or a score"),
        (["exponential", "--candidate", "=3", *PRICE], "lacks its name or a score"),
        (["exponential", "--candidate", "a=x", *PRICE], "lacks its name or a score"),
        (["exponential", "--candidate", "a=1e30", *PRICE], "64 bits"),
        (["interval", "lapplace", *PRICE], 'Did you mean "laplace"'),
        (["laplace", "1", "--epsilom", "1", *PRICE], "epsilom"),
        (["laplace", "1", *PRICE, "--count", "0"], "count"),
        (["exponential", *PRICE], "candidate"),
    ],
)
def test_mistakes_leave_with_code_two(shell, arguments: list[str], says: str) -> None:
    out, err = shell(*arguments, code=2)
    assert out == ""
    assert says in err


def test_errors_in_json_mode_are_json(shell) -> None:
    _, err = shell("gaussian", "1", *PRICE, "--format", "json", code=2)
    assert json.loads(err)["error"] == "UsageError"


def test_the_help_page_lists_every_mechanism(shell) -> None:
    out, _ = shell("--help")
    for name in ("laplace", "geometric", "gaussian", "exponential", "permute-and-flip", "interval", "epsilon-for"):
        assert name in out
