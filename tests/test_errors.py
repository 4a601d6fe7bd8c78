"""Every wording, rendered once: it says what happened and what to do next, and its class decides the exit code."""

import inspect
import re
from typing import Any, get_type_hints

import pytest

from sfumato import errors
from sfumato.cli import wordings as of_commands
from sfumato.engines import wordings as of_engines
from sfumato.errors import SfumatoError, UsageError, did_you_mean, quoted
from sfumato.kernel import wordings as of_the_kernel
from sfumato.ledger import wordings as of_the_ledger
from sfumato.query import wordings as of_questions
from sfumato.schema import wordings as of_declarations
from tests.architecture.sources import sources

MODULES = (errors, of_declarations, of_questions, of_engines, of_the_kernel, of_the_ledger, of_commands)
# One call of every wording of errors.py, and of those that everybody meets. A new one of errors.py needs a line here.
SAMPLES: dict[str, tuple[Any, ...]] = {
    "not_a_number": ("epsilon", "'one'"),
    "not_finite": ("epsilon",),
    "not_positive": ("epsilon", "-1"),
    "out_of_range": ("delta", "0", "1", "2"),
    "too_small": ("max_rows", "1", "0"),
    "not_whole": ("max_rows", "2.5"),
    "missing_argument": ("spend", "spend=0.5"),
    "missing_extra": ("answer.to_pandas()", "pandas", "pandas"),
    "bounds_reversed": ("90", "17"),
    "no_categories": (),
    "repeated_category": ("yes",),
    "mixed_categories": (),
    "groups_above_rows": (2, 5),
    "no_columns": (),
    "unit_column_declared": ("user_id",),
    "policy_missing": ("people.toml",),
    "policy_malformed": ("people.toml", "Expected '=' at line 3"),
    "policy_unknown": ("people.toml", "data", "sauce", ["source", "table"]),
    "policy_lacks": ("people.toml", "unit", "id", 'id = "user_id"'),
    "policy_wrong": ("people.toml", "[unit]", UsageError("max_rows is 0.", "Give at least 1.")),
    "policy_exists": ("people.toml",),
    "file_missing": ("people.csv",),
    "file_unreadable": ("people.csv", "it is not a CSV file"),
    "folder_names": ("zip",),
    "frame_unknown": ("dict",),
    "column_absent": ("agee", ["age", "sex"]),
    "too_long": (10_001, 10_000),
    "too_deep": (50,),
    "not_sql": ("it is empty",),
    "not_supported": ("JOIN", "Ask about one table."),
    "unknown_table": ("peple", "people"),
    "unknown_column": ("agee", ["age", "sex"]),
    "no_bounds": ("SUM(income)", "income"),
    "division_unbounded": ("SUM(1 / age)",),
    "wrong_type": ("age is compared with a text", "age is a number"),
    "identifier_used": ("name",),
    "keys_undeclared": ("city",),
    "over_key_budget": ("1e-06", "1e-09"),
    "too_many_keys": (10**6, 10**5),
    "select_without_group": ("age",),
    "bounds_too_wide": ("SUM(income * income)",),
    "session_closed": (),
    "data_changed": (),
    "duplicate_output": ("n",),
    "plan_refused": ("it measures nothing",),
    "spend_buys_nothing": ("1e-30",),
    "over_budget": ("0.5", '"hospital"', "0.2", "3"),
    "ledger_needed": (),
    "ledger_differs": ("the unit", "row", "person"),
    "limit_differs": ("epsilon 3", "epsilon 4"),
    "ledger_unreadable": ("people.ledger",),
    "ledger_unwritable": ("people.ledger",),
    "ledger_broken": (7,),
    "ledger_rolled_back": (6, 9),
    "veiled_otherwise": (7,),
    "ledger_gone": ("people.ledger",),
    "anchor_gone": ("people.anchor",),
    "request_conflict": ("id-17",),
    "receipt_used": (),
    "session_of_another_process": (),
    "engine_failed": (),
    "broken_off": (),
}

CLASSES = [kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, SfumatoError)]


def wordings() -> dict[str, Any]:
    """Every function of errors.py that returns an error, and those of packages that have a sample here."""
    found = {}
    for module in MODULES:
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__ and name not in found:
                returned = get_type_hints(function).get("return")
                is_error = inspect.isclass(returned) and issubclass(returned, SfumatoError)
                if is_error and (module is errors or name in SAMPLES):
                    found[name] = function
    return found


def test_every_wording_has_a_sample() -> None:
    assert set(wordings()) == set(SAMPLES)


def test_a_wording_stands_where_it_is_raised() -> None:
    """In errors.py only what several packages say, or a module that belongs to none."""
    homes: dict[str, set[str]] = {name: set() for name in wordings() if hasattr(errors, name)}
    for source in sources():
        for name in source.imports():
            home, _, wording = name.rpartition(".")
            if home == "sfumato.errors" and wording in homes:
                homes[wording].add(source.name.partition("/")[0])
    alone = {name: found for name, found in homes.items() if len(found) < 2}
    assert {name for name, found in alone.items() if not any(home.endswith(".py") for home in found)} == set()


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_wording_says_what_happened_and_what_to_do(name: str) -> None:
    function = wordings()[name]
    error = function(*SAMPLES[name])
    assert type(error) is get_type_hints(function)["return"]
    assert error.message
    assert error.hint
    assert re.search(r"[.?]$", error.message), "a message is a sentence"
    assert error.message[0] == error.message[0].lower() or error.message.startswith(("SUM", "GROUP", "JOIN")), (
        "a message goes on after the name of its class"
    )
    assert error.hint[0].isupper()
    assert str(error) == f"{error.message}\n  {error.hint}"
    assert "  " not in error.message + error.hint
    assert "None" not in str(error)
    assert "\n" not in error.message + error.hint


@pytest.mark.parametrize("name", sorted(name for name, arguments in SAMPLES.items() if arguments))
def test_a_wording_shows_what_it_was_given(name: str) -> None:
    """Each text argument appears, except a list, an error and a singular choice of words."""
    text = str(wordings()[name](*SAMPLES[name]))
    for argument in SAMPLES[name]:
        if isinstance(argument, str | int):
            assert str(argument) in text


def test_exit_codes() -> None:
    codes = {kind.__name__: kind.exit_code for kind in CLASSES}
    assert codes == {
        "SfumatoError": 1,
        "UsageError": 2,
        "MissingExtra": 2,
        "NotFittedError": 2,
        "Refused": 3,
        "RequestConflict": 3,
        "BudgetExceeded": 4,
        "Unavailable": 5,
        "DataUnreadable": 5,
        "EngineFailed": 5,
        "LedgerDamaged": 5,
        "ReceiptUsed": 5,
    }


def test_the_tree_at_the_top_lists_every_class_under_its_parent_with_its_code() -> None:
    lines = [line for line in (errors.__doc__ or "").splitlines() if re.search(r"(─ |^SfumatoError)", line)]
    drawn: dict[str, tuple[str | None, int | None]] = {}
    path: list[str] = []
    for line in lines:
        depth = 0 if line.startswith("SfumatoError") else (line.index("─ ") + 2) // 4
        words = line[4 * depth :].split()
        path = [*path[:depth], words[0]]
        drawn[words[0]] = (path[-2] if depth else None, int(words[1]) if depth else None)
    assert set(drawn) == {kind.__name__ for kind in CLASSES}
    for kind in CLASSES[1:]:
        assert drawn[kind.__name__] == (kind.__bases__[0].__name__, kind.exit_code)


def test_usage_errors_are_value_errors() -> None:
    assert issubclass(UsageError, ValueError)
    assert isinstance(errors.missing_extra("x", "y", "z"), ValueError)


def test_an_error_without_a_hint_is_its_message() -> None:
    assert str(SfumatoError("what happened.")) == "what happened."
    assert SfumatoError("a", "b").args == ("a", "b")


def test_the_budget_hint_knows_when_nothing_is_left() -> None:
    assert "spend=0.2 or less" in of_the_ledger.over_budget("0.5", "x", "0.2", "3").hint
    assert "for free" in of_the_ledger.over_budget("0.5", "x", "0", "3").hint


def test_did_you_mean() -> None:
    assert did_you_mean("Agee", ["age", "sex"]) == ' Did you mean "age"?'
    assert did_you_mean("EDUCATION", ["Education"]) == ' Did you mean "Education"?'
    assert did_you_mean("zzz", ["age", "sex"]) == ""
    assert did_you_mean("age", []) == ""


def test_long_lists_are_cut() -> None:
    assert quoted(["a", "b"]) == "a, b"
    assert quoted([str(i) for i in range(15)], limit=12).endswith("11 and 3 more")
    assert quoted([]) == ""
