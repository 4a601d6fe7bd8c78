"""Every wording of questions and declarations, rendered once: it says what happened and what to do next."""

import inspect
from typing import Any, get_type_hints

import pytest

from sfumato.answers import wordings as of_answers
from sfumato.errors import SfumatoError
from sfumato.ledger import wordings as of_the_ledger
from sfumato.query import wordings as of_questions
from sfumato.schema import wordings as of_declarations
from tests.test_errors import SAMPLES as EVERYBODYS

SAMPLES: dict[str, tuple[Any, ...]] = {
    "error_depends": ("income",),
    "which_column": (["n", "income"],),
    "error_out_of_reach": ("1e-09", "999000"),
    "one_of_spend_and_error": (),
    "column_without_error": (),
    "rows_without_error": (),
    "no_error_bar": ("mode",),
    "keys_without_error": (),
    "no_script": (),
    "not_drawable": ("mode",),
    "keys_not_drawable": (),
    "part_refused": ("a condition", "1 = 1) OR (2 = 2"),
    "nothing_asked": (),
    "part_not_text": ("a condition", "int"),
    "parts_differ": (),
    "keys_need_delta": ("town",),
    "delta_unused": (),
    "caps_without_people": ("max_rows",),
    "keys_need_people": ("town",),
    "people_unknown": ("COUNT(DISTINCT card)",),
    "not_of_kind": ("row", "max_rows"),
    "caps_of_one_row": ("max_groups",),
    "cap_above": ("max_rows", 7, 5),
    "nothing_clipped": (),
    "each_above_rows": (2, 5),
    "default_above": ("max_rows", 20, 10),
    "argument_unknown": ("max_row", ("max_rows", "max_groups")),
    "clipped_is_yes_or_no": ("int",),
    "cap_above_rows": ("max_groups", 7, 1),
    "not_measured": ("cuont", ["count", "income"]),
    "too_large": (5_000,),
    "mode_unlisted": ("MODE(zip)", "zip"),
    "bounds_lost": ("AVG(LN(cost))", "LN", "LN(GREATEST(cost, 1))"),
    "date_unbounded": ("AVG(YEAR(seen))", "seen"),
    "not_listed": ("sex", "Femal", ["female", "male"]),
    "question_not_text": ("int",),
    "no_numbers": ("zip",),
    "no_upper_end": ("wealth",),
    "calls_too_deep": (4,),
    "too_many_casts": (4,),
    "refused_because": ("INTERVAL", "dates are not moved", "Write the day: DATE '2024-01-31'."),
    "function_unknown": ("MEDAIN", ["MEDIAN", "ABS"], ["ABS", "ROUND"]),
    "distinct_of_several": (["zip", "sex"],),
    "allow_unknown": ("aditive", ["additive", "ranks"]),
    "allow_unusable": (),
    "not_in_answer": ("age", ["sex", "n"]),
    "sorted_by_computed": ("n / 2", ["sex", "n"]),
    "argument_wrong": ("ROUND", "whole numbers"),
    "keys_endless": ("LEFT(…)",),
    "category_unbounded": ("MAX(smoker)", "smoker", [0, 1]),
    "not_computed": ("UPPER", ["ABS", "ROUND"]),
    "column_beside_answers": ("age",),
    "nothing_to_compute": ("HISTOGRAM(age, 3)", "a list or a most frequent value"),
    "total_of_answers": ("SUM(AVG(age)) OVER ()",),
    "total_before_having": ("share",),
    "rolled_up_keys": ("town",),
    "not_rolled_up": ("median_age",),
    "total_of_totals": ("COUNT(*) / SUM(COUNT(*)) OVER ()",),
    "no_key_left": ("age", 17, 90, 3),
    "name_of_a_column": ("month",),
    "number_and_truth": ("smoker", "true", 1),
    "category_not_list": ("yes",),
    "folder_missing": ("ledgers/people.ledger",),
    "not_a_date": ("'yesterday'",),
    "wrong_kind": ("unit", "of type str", "unit=sf.Row()"),
    "unusable_name": ("''", 200),
    "analyst_unplain": ("'research '",),
    "unusable_path": ("ledger", "people.ledger"),
    "anchor_is_ledger": (),
    "spend_too_small": ("0.001",),
    "slots_need_memory": (2, 128),
    "layout_unknown": ("people.ledger", ["trigger no_delete"]),
    "file_unsound": ("people.ledger",),
    "entry_senseless": (7, "has a total that is not the sum of the charges"),
    "ledger_replaced": (7,),
    "not_the_anchored": (7,),
    "not_a_file": ("ledger", "people.ledger"),
    "journal_beside": ("people.ledger",),
    "ledger_is_link": ("people.ledger",),
    "beside_strange": ("people.ledger-wal",),
    "ledger_swapped": ("people.ledger",),
    "anchor_held": ("people.ledger.anchor",),
    "ledger_linked": ("people.ledger",),
    "ledger_behind_link": ("people.ledger",),
    "anchor_went_back": ("people.ledger.anchor",),
    "anchor_of_sqlite": (),
    "forked_meanwhile": (),
    "forked_unnoticed": ("people.ledger",),
    "key_unreadable": ("people.ledger.anchor.key",),
    "key_for_all": ("people.ledger.anchor.key",),
    "ledger_is_key": (),
    "asked_meanwhile": ("people.ledger",),
    "interrupted_too_often": (3,),
    "request_of_before": ("id-17", 3),
    "no_receipt": (),
    "not_an_envelope": (7,),
    "envelope_of_other_data": (7,),
    "envelope_at_another_price": (7,),
    "envelope_empty": (7,),
}
WORDINGS = {
    name: function
    for module in (of_questions, of_answers, of_declarations, of_the_ledger)
    for name, function in vars(module).items()
    if inspect.isfunction(function) and function.__module__ == module.__name__
    if get_type_hints(function)["return"] is not str  # what is said beside an answer, and is no error
}


def test_every_wording_has_a_sample() -> None:
    assert set(WORDINGS) - set(EVERYBODYS) == set(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_it_says_what_happened_and_what_to_do(name: str) -> None:
    error = WORDINGS[name](*SAMPLES[name])
    assert isinstance(error, SfumatoError)
    assert type(error) is get_type_hints(WORDINGS[name])["return"]
    for sentence in (error.message, error.hint):
        assert sentence.endswith((".", "?", ")"))
        assert len(sentence) > 15
