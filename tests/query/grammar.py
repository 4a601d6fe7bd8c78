"""Sentences of the question language and beyond it, for fuzzing the gate. Every choice comes from the argument."""

from random import Random

from tests.query.asking import COLUMNS

NUMBERS = [
    "0",
    "1",
    "-1",
    "0.5",
    "1e3",
    "1e-3",
    "12345678901234567890",
    "9223372036854775807",
    ".5",
    "5.",
    "1e99",
    "1e400",
]
TEXTS = ["'a'", "''", "'it''s'", "'--'", "'/*'", "';'", "'\\'", "'é'", "'漢字'", "'\u202e'", "'\t'", "'\"'", "'%'"]
SIGNS = "( ) [ ] { } , ; . * + - / % = < > <> != <= >= :: : -> => || | & ^ ~ ! @ # $ ? \\ ` \" ' -- /* */"
WORDS = """
    SELECT FROM WHERE GROUP_BY HAVING ORDER_BY LIMIT OFFSET UNION JOIN ON USING AS AND OR NOT IN IS NULL BETWEEN LIKE
    CASE WHEN THEN ELSE END CAST INTERVAL DATE EXISTS ANY ALL DISTINCT OVER PARTITION_BY FILTER WITH VALUES LATERAL
    UNNEST ARRAY STRUCT MAP TRUE FALSE COUNT SUM AVG COUNT(*) people age sex income name x_->_x QUALIFY PIVOT
    TABLESAMPLE EXTRACT COLLATE AT_TIME_ZONE GROUPING_SETS ROLLUP CUBE TRY_CAST SIMILAR_TO ESCAPE
"""
NOISE = [*SIGNS.split(), *(word.replace("_", " ") for word in WORDS.split()), "TRY_CAST", "\n", "\0", "\u00a0"]
FUNCTIONS = [
    "ABS",
    "SQRT",
    "LOWER",
    "f",
    "COALESCE",
    "MAX",
    "MEDIAN",
    "COUNT",
    "SUM",
    "CAST",
    "DATE",
    "STRUCT",
    "IF",
    "TRIM",
]


def _templates(text: str) -> list[str]:
    return [template.strip() for template in text.split(";")]


ROW_FUNCTIONS = {
    "number": _templates("""
        ABS({n}); ROUND({n}, 1); FLOOR({n}); CEIL({n}); SIGN({n}); LEAST({n}, {n}); GREATEST({n}, 3); SQRT({n});
        LN({n}); LOG10({n}); EXP({n}); POWER({n}, 2); POWER({n}, -0.5); MOD({n}, 3); {n} % 7; LENGTH({t}); YEAR({d});
        MONTH({d}); DAYOFWEEK({d}); EXTRACT(DAY FROM {d}); BIN({n}, 10); DATE_DIFF('day', {d}, {d}); NULLIF({n}, 1);
        CASE WHEN {c} THEN {n} ELSE {n} END; IF({c}, {n}, {n}); COALESCE({n}, 0); CASE {n} WHEN 1 THEN {n} END
    """),
    "text": _templates("""
        UPPER({t}); LOWER({t}); TRIM({t}); SUBSTRING({t}, 1, 2); LEFT({t}, 1); RIGHT({t}, 3); CONCAT({t}, {t});
        {t} || 'a'; REPLACE({t}, 'a', ''); CASE WHEN {c} THEN {t} END; COALESCE({t}, 'a')
    """),
    "date": _templates("DATE_TRUNC('month', {d}); COALESCE({d}, '2024-01-31'); CASE WHEN {c} THEN {d} END"),
}
PLAIN = {
    "number": ["age", "income", "grade", "children", "wealth", "height", "1", "0.5"],
    "text": ["zip", "sex", "member", "'a'"],
    "date": ["born", "seen", "DATE '2024-01-31'"],
}


def typed(choose: Random, kind: str, depth: int) -> str:
    """An expression of one kind, with functions of all kinds in it."""
    if depth == 0 or choose.random() < 0.3:
        return choose.choice(PLAIN[kind])
    text = choose.choice(ROW_FUNCTIONS[kind]).strip()
    for mark, inner in (("{n}", "number"), ("{t}", "text"), ("{d}", "date")):
        while mark in text:
            text = text.replace(mark, typed(choose, inner, depth - 1), 1)
    return text.replace("{c}", typed_condition(choose, depth - 1))


def typed_condition(choose: Random, depth: int) -> str:
    kind = choose.choice(["number", "text", "date", "pattern"])
    if kind == "pattern":
        match = choose.choice(["{} LIKE 'a%'", "{} NOT ILIKE '%_B'", "STARTS_WITH({}, 'a')", "CONTAINS({}, '')"])
        return match.format(typed(choose, "text", depth))
    operator = choose.choice(["=", "<>"] if kind == "text" else ["=", "<>", "<", ">="])
    return f"{typed(choose, kind, depth)} {operator} {typed(choose, kind, depth)}"


def sentence(choose: Random) -> str:
    """Mostly a proper question; now and then with a word too many."""
    keys = [
        column(choose) if choose.random() < 0.7 else typed(choose, choose.choice(["number", "text", "date"]), 2)
        for _ in range(choose.choice([0, 0, 0, 1, 1, 2]))
    ]
    calls = [aggregate(choose) + choose.choice(["", f" AS c{i}", f' AS "c {i}"']) for i in range(choose.randint(1, 3))]
    parts = [
        "SELECT",
        ", ".join([*keys, *calls]),
        "FROM",
        choose.choice(["people"] * 9 + ['"people"', "people p", "PEOPLE"]),
    ]
    if choose.random() < 0.6:
        parts += ["WHERE", condition(choose, 4)]
    if keys:
        parts += ["GROUP BY", ", ".join(choose.choice([key, key, str(i + 1)]) for i, key in enumerate(keys))]
    if choose.random() < 0.15:
        parts.insert(choose.randrange(len(parts) + 1), choose.choice(NOISE))
    return choose.choice([" ", "\n", "  "]).join(parts)


def aggregate(choose: Random) -> str:
    name = choose.choice(["COUNT", "SUM", "AVG"] * 6 + ["MAX", "count", "Median"])
    if name == "COUNT" and choose.random() < 0.5:
        return "COUNT(*)"
    return f"{name}({choose.choice([expression(choose, 3), typed(choose, 'number', 3)])})"


def column(choose: Random) -> str:
    name = choose.choice(["age", "sex", "grade", "member", "income"] * 3 + list(COLUMNS))
    return (
        choose.choice([name, name.upper(), f"people.{name}"])
        if name.isidentifier() and name != "order"
        else f'"{name}"'
    )


def expression(choose: Random, depth: int) -> str:
    kind = choose.random()
    if depth == 0 or kind < 0.45:
        return choose.choice([column(choose)] * 5 + [choose.choice(NUMBERS), choose.choice(TEXTS)])
    if kind < 0.75:
        operator = choose.choice(["+", "-", "*", "/"] * 5 + ["%", "||", "//"])
        return f"{expression(choose, depth - 1)} {operator} {expression(choose, depth - 1)}"
    if kind < 0.85:
        return f"({expression(choose, depth - 1)})"
    if kind < 0.95:
        return f"{choose.choice(['-', '+', '- ', '-'])}{expression(choose, depth - 1)}"
    return f"{choose.choice(FUNCTIONS)}({expression(choose, depth - 1)})"


def condition(choose: Random, depth: int) -> str:
    kind = choose.random()
    if choose.random() < 0.25:
        return typed_condition(choose, 2)
    if depth > 0 and kind < 0.35:
        return choose.choice([" AND ", " OR "]).join(condition(choose, depth - 1) for _ in range(choose.randint(2, 3)))
    if depth > 0 and kind < 0.45:
        return f"({condition(choose, depth - 1)})"
    if depth > 0 and kind < 0.55:
        return f"NOT {condition(choose, depth - 1)}"
    left = expression(choose, 1)
    if kind < 0.65:
        return f"{left} IS {choose.choice(['', 'NOT '])}NULL"
    if kind < 0.75:
        choices = ", ".join(choose.choice(NUMBERS[:5] + TEXTS[:3]) for _ in range(choose.randint(1, 3)))
        return f"{left} {choose.choice(['', 'NOT '])}IN ({choices})"
    if kind < 0.82:
        return f"{left} {choose.choice(['', 'NOT '])}BETWEEN {expression(choose, 1)} AND {expression(choose, 1)}"
    return f"{left} {choose.choice(['=', '<>', '!=', '<', '<=', '>', '>=', 'LIKE'])} {expression(choose, 1)}"


def mutated(text: str, choose: Random) -> str:
    """Words or letters dropped, doubled, swapped, replaced or put in."""
    for _ in range(choose.choice([1, 1, 2, 3, 6])):
        units = text.split(" ") if choose.random() < 0.6 else list(text)
        glue = " " if len(units) == len(text.split(" ")) else ""
        place = choose.randrange(len(units) + 1)
        match choose.randrange(6):
            case 0:
                units[place : place + 1] = []
            case 1:
                units[place:place] = [choose.choice(NOISE)]
            case 2:
                units[place:place] = units[place : place + choose.randint(1, 4)]
            case 3:
                units[place : place + 1] = [choose.choice(NOISE)]
            case 4:
                other = choose.randrange(len(units) + 1)
                units[place : place + 1], units[other : other + 1] = units[other : other + 1], units[place : place + 1]
            case _:
                units[place:place] = [chr(choose.choice([choose.randrange(32, 127), choose.randrange(0xFFFF)]))]
        text = glue.join(units)[:12_000]
    return text
