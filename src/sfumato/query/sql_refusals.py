"""Parts of SQL that can never be answered here, each with its reason and the nearest thing that works."""

from sqlglot import exp

from sfumato.query.about import about
from sfumato.query.sql_formulas import is_total
from sfumato.query.sql_rollup import is_of_answer
from sfumato.query.wordings import refused_because

TWICE = "a person's rows would count in several parts"
OVERLAP = "its groups overlap, so one person would count several times"
TOTALS = (
    "GROUP BY ROLLUP (a, b) adds rows of totals for nothing, sums of the noisy groups; ask any other GROUP BY by "
    "itself."
)
IN_BRACKETS = "its value would be an answer without noise"
JOIN_INSTEAD = (
    "Ask it first and write its number, or join one row per person, id being the unit id: "
    "JOIN (SELECT id, … GROUP BY id) AS x."
)

REASONS: dict[type[exp.Expr], tuple[str, str, str]] = {
    exp.Union: ("UNION", TWICE, "Ask each part by itself, or both with OR in WHERE."),
    exp.Intersect: ("INTERSECT", TWICE, "Ask with both conditions: AND in WHERE."),
    exp.Except: ("EXCEPT", TWICE, "Ask with the second condition turned round: AND NOT in WHERE."),
    exp.Rollup: ("ROLLUP in a sub-query", OVERLAP, "Write it in the question itself, whose answer is added up."),
    exp.Cube: ("CUBE", OVERLAP, TOTALS),
    exp.GroupingSets: ("GROUPING SETS", OVERLAP, TOTALS),
    exp.Unnest: ("UNNEST", "it multiplies rows", "Keep the list as a table of its own with the same unit id."),
    exp.Lateral: ("LATERAL", "it multiplies rows", "Keep the list as a table of its own with the same unit id."),
    exp.Window: (
        "a window (OVER)",
        "it shows rows of other people",
        "GROUP BY adds up groups, ORDER BY sorts the answer, a sub-query with GROUP BY the unit id adds up a person's "
        "rows.",
    ),
    exp.Exists: ("EXISTS", IN_BRACKETS, JOIN_INSTEAD),
}


def refuse_by_kind(statement: exp.Expr) -> None:
    """Refuse what stands in the table, and sub-queries anywhere but after FROM, JOIN and WITH."""
    for node in statement.walk():
        for kind, (name, reason, nearest) in REASONS.items():
            if isinstance(node, kind) and not (is_total(node) or is_of_answer(node, statement)):
                raise about(refused_because(name, reason, nearest), node)
        if isinstance(node, exp.Select) and node.parent is not None and not _is_table(node):
            raise about(refused_because("a sub-query here", IN_BRACKETS, JOIN_INSTEAD), node)


def _is_table(select: exp.Select) -> bool:
    bracket = select.parent
    if isinstance(bracket, exp.CTE):
        return True
    return isinstance(bracket, exp.Subquery) and isinstance(bracket.parent, exp.From | exp.Join)
