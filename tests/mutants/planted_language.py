"""Bugs in what a plan can say, and in the SQL that is written for it."""

from tests.mutants.mutant import Mutant

CERTIFY, DUCKDB = "tests/kernel/test_certify.py", "tests/engines/test_duckdb.py"
NODES, SOURCES, PARTS = "tests/plan/test_nodes.py", "tests/plan/test_sources.py", "tests/plan/test_parts.py"
TOTAL = "tests/plan/test_total.py"

LANGUAGE = (
    # ---- what a plan can say
    Mutant(
        "digest-without-kinds",
        "plan/nodes.py",
        'return {"node": type(value).__name__, **parts}',
        "return parts",
        "a count of people and one of rows have one digest: paid for the one, the receipt opens the other",
        (NODES + "::test_every_difference_shows_in_the_digest",),
    ),
    Mutant(
        "digest-by-nearest-double",
        "plan/nodes.py",
        'return f"{value.numerator}/{value.denominator}"',
        "return str(float(value))",
        "shares that differ in the twentieth digit are one question, and a stored answer is shown for the other",
        (
            NODES + "::test_digests_are_equal_exactly_when_plans_are",
            NODES + "::test_shares_a_hair_apart_are_told_apart",
        ),
    ),
    Mutant(
        "last-branch-unseen",
        "plan/expressions.py",
        "return inner if otherwise is None else (*inner, otherwise)",
        "return inner",
        "an identifier behind ELSE is compared and grouped by, and certify does not see it",
        (CERTIFY,),
    ),
    Mutant(
        "year-of-anything",
        "plan/functions.py",
        '"YEAR": Function(("date",), "number"',
        '"YEAR": Function(("same",), "number"',
        "YEAR(text) is asked of every row and fails on the one that is no date: the failure tells that it is there",
        (TOTAL,),
    ),
    Mutant(
        "truths-taken-for-numbers",
        "plan/kinds.py",
        'return "text" if not isinstance(values[0], int) or isinstance(values[0], bool) else "number"',
        'return "text" if not isinstance(values[0], int) else "number"',
        "true and false are compared with numbers, and the engine fails on the rows it meets",
        (TOTAL,),
    ),
    Mutant(
        "centre-between-steps",
        "plan/lattice.py",
        "return (self.lower + self.upper) // 2",
        "return (self.lower + self.upper) / 2",
        "the engine rounds a centre that certify does not: a row moves the sum by half a step more than is covered",
        ("tests/plan/test_lattice.py",),
    ),
    Mutant(
        "one-side-of-a-join-is-enough",
        "plan/sources.py",
        "return one_row_each(left) and one_row_each(right)",
        "return one_row_each(left) or one_row_each(right)",
        "a person with many visits is protected like one visit",
        (SOURCES + "::test_where_everybody_has_one_row_a_row_is_a_person",),
    ),
    Mutant(
        "column-in-the-place-of-the-id",
        "plan/sources.py",
        "if len(names) < len(listed) or visible & taken:",
        "if len(names) < len(listed):",
        "a computed column called like the id makes as many people of one as it has values",
        (SOURCES + "::test_what_does_not_keep_the_unit_is_refused",),
    ),
    Mutant(
        "cells-of-rows",
        "plan/parts.py",
        "return replace(plan, unit=Person(plan.unit.id, plan.unit.max_rows, plan.unit.max_rows))",
        "return replace(plan, unit=Row())",
        "a person with a thousand rows moves a histogram by a thousand, its noise covers max_rows",
        (PARTS,),
    ),
    # ---- the SQL, and what comes back
    Mutant(
        "one-row-for-each-value",
        "engines/sql/sources.py",
        "FROM ({inner}) GROUP BY u)",
        "FROM ({inner}) GROUP BY u, v0)",
        "a person is as many rows as they have values, each protected as if it were a person",
        (
            "tests/engines/test_relations.py::test_the_emitter_agrees_with_the_reference_on_tables_with_everything_in_them",
        ),
    ),
    Mutant(
        "rows-for-units",
        "engines/arrange.py",
        "units = np.array([int(row[-1]) for row in results[0]], dtype=np.int64)",
        "units = np.array([int(row[width + 1]) for row in results[0]], dtype=np.int64)",
        "keys are shown by their rows: one person with a thousand of them is enough",
        ("tests/engines/test_parts.py::test_open_keys_come_with_the_number_of_their_units",),
    ),
    Mutant(
        "too-much-counts-nothing",
        "engines/arrange.py",
        "    if None in values:\n        raise too_many_rows()\n    return tuple(int(value) for value in values)",
        "    return tuple(int(value or 0) for value in values)",
        "with one row more a sum falls from quintillions to 0, which no noise covers",
        (DUCKDB + "::test_more_rows_than_fit_give_no_answer",),
    ),
)
