"""`sfumato noise staircase | noisy-max | top-k | randomised-response | above-threshold`."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest

Shell = Callable[..., tuple[int, str, str]]

PRICE = ["--sensitivity", "1", "--epsilon", "1"]
DRINKS = ["--candidate", "tea=0", "--candidate", "coffee=2000000", "--candidate", "milk=1000000"]


def answer(shell: Shell, *arguments: object) -> dict[str, Any]:
    code, out, err = shell("noise", *arguments, "--format", "json")
    assert code == 0, err
    return dict(json.loads(out))


@pytest.mark.parametrize("value", ["42", "-5", "-1e-5", "0.1"])
def test_staircase(shell: Shell, value: str) -> None:
    found = answer(shell, "staircase", value, *PRICE, "--count", 4)
    assert found["mechanism"] == "staircase"
    assert all(abs(drawn - float(value)) < 1000 for drawn in found["values"])
    assert len(set(found["values"])) == 4
    assert (found["epsilon"], found["delta"], found["total"]) == (1, 0, {"epsilon": 4})
    assert found["error95"] == pytest.approx(2.9959, abs=1e-3)


def test_staircase_in_words(shell: Shell) -> None:
    _, out, _ = shell("noise", "staircase", "42", "--sensitivity", 1, "--epsilon", 5, "--count", 2)
    assert "95 % of draws are within ±0.469389; costs epsilon 5. 2 releases cost epsilon 10 together." in out
    _, out, _ = shell("noise", "interval", "staircase", "--sensitivity", 1, "--epsilon", 5)
    assert out == "95 % of draws are within ±0.469389.\n"
    _, out, _ = shell("noise", "epsilon-for", "staircase", "--sensitivity", 1, "--error", 0.5)
    assert out.startswith("epsilon 4.9095")


def test_noisy_max(shell: Shell) -> None:
    found = answer(shell, "noisy-max", *DRINKS, *PRICE, "--count", 3, "--monotone")
    assert (found["mechanism"], found["values"], found["total"]) == ("noisy_max", ["coffee"] * 3, {"epsilon": 3})


def test_top_k_is_one_release(shell: Shell) -> None:
    found = answer(shell, "top-k", *DRINKS, *PRICE, "--k", 2)
    assert (found["mechanism"], found["values"]) == ("top_k", ["coffee", "milk"])
    assert (found["count"], found["total"]) == (1, {"epsilon": 1})
    _, out, _ = shell("noise", "top-k", *DRINKS, *PRICE, "--k", 2)
    assert "place" in out
    assert "Costs epsilon 1.\n" in out
    _, out, err = shell("noise", "top-k", *DRINKS, *PRICE, "--k", 3, "--format", "csv")
    assert [row["value"] for row in csv.DictReader(io.StringIO(out))] == ["coffee", "milk", "tea"]
    assert "together" not in err


@pytest.mark.parametrize(("typed", "meant"), [("true", True), ("Yes", True), ("FALSE", False), ("no", False)])
def test_a_truth(shell: Shell, typed: str, meant: bool) -> None:
    found = answer(shell, "randomised-response", typed, "--epsilon", 100, "--count", 2)
    assert (found["mechanism"], found["values"]) == ("randomised_response", [meant, meant])
    assert found["total"] == {"epsilon": 200}


def test_an_answer_among_categories(shell: Shell) -> None:
    names = ["--category", "tea", "--category", "milk", "--category", "no"]
    assert answer(shell, "randomised-response", "milk", *names, "--epsilon", 100)["values"] == ["milk"]
    assert answer(shell, "randomised-response", "no", *names, "--epsilon", 100)["values"] == ["no"]


def test_above_threshold(shell: Shell) -> None:
    values = ["3", "-5", "2000000", "7", "3000000"]
    found = answer(shell, "above-threshold", *values, "--threshold", 1000000, *PRICE)
    assert (found["mechanism"], found["values"], found["count"]) == ("above_threshold", [False, False, True], 1)
    assert found["total"] == {"epsilon": 1}
    more = answer(shell, "above-threshold", *values, "--threshold", "1e6", *PRICE, "--count", 2, "--monotone")
    assert more["values"] == [False, False, True, False, True]
    _, out, _ = shell("noise", "above-threshold", "5", "--threshold", "-1e6", *PRICE)
    assert "True" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["staircase", "abc", *PRICE], "noise cannot be added to a text"),
        (["staircase", "1", "--sensitivity", "1", "--epsilon", "0"], "greater than 0"),
        (["interval", "staircase", *PRICE, "--entries", "2"], "one number"),
        (["interval", "stairs", *PRICE], "staircase"),
        (["noisy-max", "--candidate", "a", *PRICE], "lacks its name or a score"),
        (["top-k", *DRINKS, *PRICE, "--k", "4"], "k must lie between 1 and 3"),
        (["top-k", *DRINKS, *PRICE], "k"),
        (["randomised-response", "maybe", "--epsilon", "1"], "True or False"),
        (["randomised-response", "wine", "--category", "tea", "--category", "milk", "--epsilon", "1"], "not one of"),
        (["randomised-response", "tea", "--category", "tea", "--epsilon", "1"], "two or more"),
        (["above-threshold", "1", "x", "--threshold", "3", *PRICE], "noise cannot be added to a text"),
        (["above-threshold", "1", "--threshold", "x", *PRICE], "threshold must be a number"),
        (["above-threshold", "1", "--threshold", "3", *PRICE, "--count", "0"], "count"),
    ],
)
def test_mistakes_leave_with_code_two(shell: Shell, arguments: list[str], says: str) -> None:
    code, out, err = shell("noise", *arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert "wine" not in err


def test_the_help_page_lists_them(shell: Shell) -> None:
    _, out, _ = shell("noise", "--help")
    for name in ("staircase", "noisy-max", "top-k", "randomised-response", "above-threshold"):
        assert name in out
