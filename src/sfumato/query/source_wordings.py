"""Wordings about joins and sub-queries: what cannot be, why, and the nearest thing that works."""

from sfumato.errors import Refused, not_supported

WHAT_JOINS = (
    "What works: FROM private [LEFT] JOIN lookup ON private.column = lookup.key, "
    "or FROM private JOIN other_private USING (the unit id)."
)


def without_from() -> Refused:
    return not_supported("a question without FROM", "Add FROM and the table's name.")


def too_many_tables(limit: int) -> Refused:
    return Refused(f"the question uses more than {limit} tables.", "Ask it with fewer joins.")


def too_many_joins(limit: int) -> Refused:
    return Refused(f"the question has more than {limit} joins.", "Ask it with fewer joins.")


def too_many_levels(limit: int) -> Refused:
    return Refused(f"more than {limit} sub-queries are made of one another.", "Compute more in each of them.")


def nested_with() -> Refused:
    return not_supported("WITH inside a sub-query", "Put all WITH tables before the first SELECT.")


def sub_query_limited(part: str) -> Refused:
    return not_supported(
        f"{part} in a sub-query",
        "There it would let one person's rows decide about another's. Use WHERE inside; HAVING, ORDER BY and LIMIT "
        "work at the end of the question, on the noisy answer.",
    )


def sub_query_distinct() -> Refused:
    return Refused(
        "SELECT DISTINCT in a sub-query is not supported: of rows that are alike it keeps one, whoever's they are.",
        "COUNT(DISTINCT x) counts different values, and of the unit id people; SELECT id … GROUP BY id, id being the "
        "unit id, makes one row per person.",
    )


def join_kind(kind: str) -> Refused:
    reason = "it pairs rows of different people"
    if "RIGHT" in kind or "FULL" in kind:
        reason = "it makes rows that are nobody's"
    elif "NATURAL" in kind:
        reason = "the columns it joins on are not named"
    return Refused(f"{kind} is not supported: {reason}.", WHAT_JOINS)


def join_condition(reason: str) -> Refused:
    return Refused(f"this join is not supported: {reason}.", WHAT_JOINS + " Put other conditions into WHERE.")


def join_of_people(unit_id: str) -> Refused:
    return Refused(
        "private tables are joined on the unit id only: on anything else, one person would reach the rows of others.",
        f"Join ON a.{unit_id} = b.{unit_id}, or declare a public table as a lookup.",
    )


def join_of_rows() -> Refused:
    return Refused(
        "private tables cannot be joined where no column says whose a row is.",
        "The owner can declare a person as the unit; lookups can be joined.",
    )


def join_off_key(table: str, key: str) -> Refused:
    return Refused(
        f'the lookup "{table}" is joined on another column than its key: rows could multiply.',
        f"Join ON p.column = {table}.{key}.",
    )


def join_of_kinds(left: str, key: str) -> Refused:
    return Refused(
        f'"{left}" and the key "{key}" are not both texts or both whole numbers.',
        f'The owner can declare the key among the columns of the lookup, e.g. {key} = {{ type = "int" }}.',
    )


def lookup_first(table: str) -> Refused:
    return Refused(
        f'"{table}" is a public lookup, there is nothing to protect in it.',
        f"Start FROM the private table: FROM private LEFT JOIN {table} ON …; what {table} holds can be read directly.",
    )


def column_unnamed(text: str) -> Refused:
    return not_supported(f"{text} without a name in a sub-query", f"Name it: {text} AS x.")


def fold_unknown(text: str) -> Refused:
    return not_supported(f"{text} in a sub-query", "COUNT, SUM, AVG, MIN and MAX of one person's rows work there.")


def fold_of_many(unit_id: str | None) -> Refused:
    nearest = "No column says whose a row is: sub-queries can filter and compute columns."
    if unit_id is not None:
        nearest = f"Group by the person alone: SELECT {unit_id}, SUM(x) AS total … GROUP BY {unit_id}."
    return Refused(
        "a sub-query can add up one person's rows only: across people it would be an answer without noise.", nearest
    )


def unit_id_renamed(unit_id: str) -> Refused:
    return not_supported(f'another name for "{unit_id}"', f"Leave it as {unit_id}; every sub-query keeps it anyway.")


def unit_id_computed(unit_id: str) -> Refused:
    return not_supported(f'a column called "{unit_id}"', "It is the name of the unit id; choose another after AS.")


def nothing_selected() -> Refused:
    return not_supported("a sub-query without a column", "Select at least one column besides the unit id, or *.")


def plain_beside_fold(name: str) -> Refused:
    return Refused(
        f'"{name}" is not the same in all rows of a person.', f"Take MIN({name}) or MAX({name}), or leave it out."
    )
