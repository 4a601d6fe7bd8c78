"""GROUP BY ROLLUP (a, b), also written GROUP BY a, b WITH ROLLUP: what a row is for, besides every group."""

from sqlglot import exp

from sfumato.errors import Refused, not_supported
from sfumato.query.about import about
from sfumato.query.sql_expressions import only

WRITTEN = "Write it once, and last: GROUP BY a, ROLLUP (b, c)."


def is_of_answer(node: exp.Expr, statement: exp.Expr) -> bool:
    """Whether it adds rows to the answer, and none to a table."""
    group = node.parent
    return isinstance(node, exp.Rollup) and isinstance(group, exp.Group) and group.parent is statement


def keys_written(group: exp.Group) -> tuple[list[exp.Expr], int | None]:
    """The keys, and how many of them every row keeps: None where each row keeps all, without ROLLUP."""
    only(group, "expressions", "all", "rollup")
    keys, all_rolled = group.expressions, bool(group.args.get("rollup"))
    rolled = [place for place, key in enumerate(keys) if isinstance(key, exp.Rollup)]
    if not rolled:
        return keys, 0 if all_rolled else None
    if all_rolled or rolled != [len(keys) - 1]:
        raise _refused("ROLLUP in several places, or before other columns", WRITTEN, keys[rolled[0]])
    *kept, last = keys
    only(last, "expressions")
    if not last.expressions:
        raise _refused("ROLLUP without a column", "Name the columns: GROUP BY ROLLUP (a, b).", last)
    for key in last.expressions:
        if isinstance(key, exp.Tuple):
            raise _refused("a pair of columns in ROLLUP", "Write each by itself: GROUP BY a, ROLLUP (b, c).", key)
    return [*kept, *last.expressions], len(kept)


def _refused(what: str, nearest: str, node: exp.Expr) -> Refused:
    return about(not_supported(what, nearest), node)
