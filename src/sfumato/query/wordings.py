"""What this package says when it cannot do something."""

from collections.abc import Iterable, Sequence

from sfumato.errors import Refused, UsageError, did_you_mean, quoted


def part_refused(what: str, text: str) -> Refused:
    return Refused(
        f"{text[:60]!r} is not {what}.", "Each part of a question must make sense alone: one condition, column or call."
    )


def part_not_text(what: str, kind: str) -> UsageError:
    return UsageError(f"{what} is a text, not {kind}.", 'E.g. session.query().where("age >= 30").count("n").')


def keys_need_delta(name: str) -> Refused:
    return Refused(
        f'the values of "{name}" are not declared, and finding them needs a budget with delta > 0.',
        f"Declare the values of {name}, or its bounds, or set delta (1e-6) in the budget of a new ledger.",
    )


def keys_need_people(name: str) -> Refused:
    return Refused(
        f'the values of "{name}" are not declared, and they are found by how many people hold them: this table does '
        "not say whose its rows are.",
        f"Declare the values of {name}, or its bounds; or let the owner name the column with people's ids as the unit.",
    )


def people_unknown(call: str) -> Refused:
    return Refused(
        f"{call} would count people, and this table does not say whose its rows are.",
        "COUNT(*) counts rows; to count people, let the owner name the column with their ids as the unit.",
    )


def caps_without_people(name: str) -> UsageError:
    return UsageError(
        f"{name} caps the rows of a person, and this table does not say whose its rows are.",
        f"Leave {name} (--{name.replace('_', '-')}) out; or let the owner declare whose the rows are.",
    )


def caps_of_one_row(name: str) -> UsageError:
    return UsageError(
        f"{name} caps the rows of a person, and here everybody has one row.",
        f"Leave {name} (--{name.replace('_', '-')}) out.",
    )


def cap_above(name: str, given: int, ceiling: int) -> UsageError:
    return UsageError(
        f"{name} is {given:,}, and the owner allows {ceiling:,}.", f"Take at most {ceiling:,}, or ask the owner."
    )


def argument_unknown(name: str, known: Sequence[str]) -> UsageError:
    return UsageError(f'a question takes no "{name}".{did_you_mean(name, known)}', f"It takes {quoted(known)}.")


def clipped_is_yes_or_no(kind: str) -> UsageError:
    return UsageError(
        f"clipped is True or False, and was given as {kind}.",
        "clipped=True spends a tenth on counting what is clipped. How many rows count is max_rows.",
    )


def cap_above_rows(name: str, given: int, rows: int) -> UsageError:
    return UsageError(
        f"{name} is {given:,}, and of a person {rows:,} row{'' if rows == 1 else 's'} count{'s' * (rows == 1)} in all.",
        f"Take at most {rows:,}, or give max_rows as well.",
    )


def nothing_clipped() -> UsageError:
    return UsageError(
        "nothing is clipped in this question: it has no bounds, and all rows count.",
        "Leave clipped (--clipped) out.",
    )


def delta_unused() -> UsageError:
    return UsageError(
        "this question discovers no keys, so it takes no delta.", "Leave delta (--delta) out of the spend."
    )


def calls_too_deep(limit: int) -> Refused:
    return Refused(
        f"calls of unknown functions are nested more than {limit} deep.",
        "Use the functions of the reference, and ask it in a flatter form.",
    )


def too_many_casts(limit: int) -> Refused:
    return Refused(
        f"the question has more than {limit} casts (::).",
        "Leave them out: columns have their declared types, and a date is written DATE '2024-01-31'.",
    )


def question_not_text(kind: str) -> UsageError:
    return UsageError(f"a question is a text, not {kind}.", 'E.g. session.ask("SELECT COUNT(*) …").')


def not_listed(name: str, given: str, known: Iterable[str]) -> Refused:
    known = list(known)
    return Refused(
        f'"{name}" has no value {given[:40]!r}.{did_you_mean(given, known)}',
        f"Its declared values are {quoted(known)}; capitals count.",
    )


def mode_unlisted(call: str, name: str) -> Refused:
    return Refused(
        f"{call} has no public list of values, or too long a one.",
        f'Declare {name} as type = "category" with values, or ask for the most frequent ones: '
        f"SELECT {name}, COUNT(*) AS n … GROUP BY {name} ORDER BY n DESC LIMIT 1; for numbers also HISTOGRAM(x, bins).",
    )


def bounds_lost(call: str, function: str, instead: str) -> Refused:
    return Refused(
        f"{call} has no bounds: {function} has none on the declared range of its argument.", f"Write {instead}."
    )


def date_unbounded(call: str, column: str) -> Refused:
    return Refused(
        f"{call} has no bounds.",
        f'Declare them in the policy, e.g. {column} = {{ type = "date", lower = "2000-01-01", upper = "2029-12-31" }}.',
    )


def too_large(limit: int) -> Refused:
    return Refused(f"the question expands to more than {limit:,} terms.", "Ask it in a flatter form.")


def refused_because(what: str, reason: str, nearest: str) -> Refused:
    return Refused(f"{what} is not supported: {reason}.", nearest)


def function_unknown(name: str, known: Iterable[str], listed: Iterable[str]) -> Refused:
    return Refused(
        f"there is no function {name}.{did_you_mean(name, known)}", f"Functions of a row: {quoted(listed, limit=60)}."
    )


def distinct_of_several(values: Sequence[str]) -> Refused:
    together = " || '/' || ".join(values)
    return Refused(
        "COUNT(DISTINCT …) of several values is not supported: it counts those of one expression.",
        f"Write COUNT(DISTINCT {values[0]}), or put texts together: COUNT(DISTINCT {together}).",
    )


def not_computed(what: str, functions: Iterable[str]) -> Refused:
    return refused_because(
        f"{what} of answers",
        "answers are numbers with noise",
        f"Write + - * / and {', '.join(functions)}; conditions go into an aggregate, as in COUNT(*) FILTER (WHERE …).",
    )


def column_beside_answers(name: str) -> Refused:
    return refused_because(
        f"{name} in a formula of answers",
        "it is of a row, and the answer is of many",
        f"Put it into an aggregate, as in AVG({name}), or select it as a key.",
    )


def nothing_to_compute(text: str, column: str) -> Refused:
    return refused_because(
        f"computing with {text}", f"{column} is no number with noise", "Compute with counts, sums, averages, quantiles."
    )


def total_of_answers(text: str) -> Refused:
    return refused_because(
        text,
        "only counts and sums of groups add up to a total",
        "Write SUM(COUNT(*)) OVER () or SUM(SUM(x)) OVER (), in a formula, for all groups of the answer.",
    )


def rolled_up_keys(column: str) -> Refused:
    return refused_because(
        f"ROLLUP with {column}",
        "its values are found with noise, and a sum over those that are shown is no total",
        "Declare them as a category, or ask each level by itself: ask_all takes several questions for one price.",
    )


def not_rolled_up(name: str) -> Refused:
    return refused_because(
        f"{name} with ROLLUP",
        "only counts, sums, averages and variances with declared bounds follow from noisy groups that are added up",
        "Ask each level by itself: ask_all takes several questions for one price.",
    )


def total_of_totals(text: str) -> Refused:
    return refused_because(
        f"{text} with ROLLUP",
        "it would add totals to what they are totals of",
        "Leave ROLLUP out, or divide by the row of totals yourself.",
    )


def total_before_having(name: str) -> Refused:
    return refused_because(
        f"HAVING with {name}",
        "totals are of the rows that HAVING leaves",
        "Leave it out and choose rows of the answer yourself; ORDER BY and LIMIT come afterwards.",
    )


def not_in_answer(name: str, columns: Iterable[str]) -> Refused:
    columns = list(columns)
    return Refused(
        f"{name} is not a column of the answer.{did_you_mean(name, columns)}",
        f"The answer has {quoted(columns)}. Conditions on rows stand in WHERE.",
    )


def sorted_by_computed(text: str, columns: Iterable[str]) -> Refused:
    return Refused(
        f"ORDER BY {text} is not supported: only what the answer shows is sorted by.",
        f"Sort by {quoted(columns)}, or sort the answer yourself: that costs nothing.",
    )


def argument_wrong(call: str, needs: str) -> Refused:
    return Refused(f"{call} cannot be asked like this.", f"It needs {needs}.")


def keys_endless(text: str) -> Refused:
    return Refused(
        f"GROUP BY {text} has no public list of values.",
        "Group by BIN(x, width), a part of a date, or CASE with constants; its columns need bounds or values.",
    )


def too_long(length: int, limit: int) -> Refused:
    return Refused(f"the question has {length} characters; {limit} are allowed.", "Ask it in a shorter form.")


def too_deep(limit: int) -> Refused:
    return Refused(f"the question is nested more than {limit} levels deep.", "Ask it in a flatter form.")


def not_sql(reason: str) -> Refused:
    return Refused(
        f"this is not a question in SQL: {reason}.", "Write it like: SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    )


def unknown_table(name: str, table: str) -> Refused:
    return Refused(f'there is no table "{name}".{did_you_mean(name, [table])}', f"Ask FROM {table}.")


def no_bounds(call: str, column: str, kind: str = "float") -> Refused:
    return Refused(
        f"{call} has no bounds.",
        f'Declare them in the policy, e.g. {column} = {{ type = "{kind}", lower = 0, upper = 200000 }}; '
        f'or let them be found, for a part of the spend: {column} = {{ type = "{kind}", private_bounds = 0.33 }}.',
    )


def category_unbounded(call: str, column: str, values: Sequence[int]) -> Refused:
    return Refused(
        f"{call} has no bounds: {column} is a category.",
        f"Count one of its values: COUNT(CASE WHEN {column} = {max(values)} THEN 1 END); or let the owner declare a "
        f'number: {column} = {{ type = "int", lower = {min(values)}, upper = {max(values)} }}.',
    )


def division_unbounded(call: str) -> Refused:
    return Refused(
        f"{call} has no bounds: the divisor may be 0.", "Divide by a column whose bounds exclude 0, or by a number."
    )


def wrong_type(what: str, expected: str, nearest: str = "Compare numbers with numbers, texts with texts.") -> Refused:
    return Refused(f"{what}, but {expected}.", nearest)


def number_and_truth(name: str, given: str, number: int) -> Refused:
    return Refused(
        f'"{name}" is a number, but it is compared with {given}.',
        f"Where 1 says yes and 0 says no, write {name} = {number}.",
    )


def keys_undeclared(name: str) -> Refused:
    return Refused(
        f'GROUP BY "{name}" needs declared keys.',
        f'Declare {name} as type = "category" with values, as "int" with bounds, or as "text" to discover its values.',
    )


def no_key_left(name: str, first: object, last: object, many: int) -> Refused:
    return refused_because(
        f"GROUP BY {name} with this WHERE",
        f"none of the declared values of {name} meets it, so that the answer has no row",
        f"They go from {first} to {last}, {many:,} in all; ask for one of these.",
    )


def too_many_keys(count: int, limit: int) -> Refused:
    return Refused(f"the question has {count} groups; {limit} are allowed.", "Group by fewer or coarser columns.")


def select_without_group(name: str) -> Refused:
    return Refused(
        f'"{name}" is selected without an aggregate.', f"Add GROUP BY {name}, or ask for COUNT, SUM or AVG of it."
    )


def name_of_a_column(name: str) -> Refused:
    return Refused(
        f'"{name}" is selected without an aggregate, and GROUP BY {name} means the column of that name.',
        "Give the expression another name after AS and group by that, or write the expression itself after GROUP BY.",
    )


def bounds_too_wide(call: str) -> Refused:
    return Refused(f"the bounds of {call} are too wide to compute with.", "Use smaller factors.")


def duplicate_output(name: str) -> Refused:
    return Refused(f'two columns of the answer are called "{name}".', "Name them apart with AS.")
