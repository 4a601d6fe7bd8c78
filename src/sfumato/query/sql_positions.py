"""Where in the analyst's text a refusal is: the word, or the part, at which reading or binding stopped.

The parser's nodes know where their words stand. What was read of a node is noted beside it there, so that a refusal
about a part of the question finds its place later on, too; parts of a plan have no places.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from sqlglot import Token, exp

from sfumato.errors import Refused
from sfumato.query.about import about
from sfumato.query.sql_dialect import PARSING

Given = ParamSpec("Given")
Node = TypeVar("Node")
Made = TypeVar("Made")
Span = tuple[int, int]

READ_AS = "read_as"
OPENING, CLOSING = ("(", "[", "{"), (")", "]", "}")
# Words of a part before the first name in it; the parser says nothing of where they stand.
LEADING: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Select: ("SELECT", "DISTINCT"),
    exp.Subquery: ("SELECT", "DISTINCT", "("),
    exp.Case: ("CASE", "WHEN"),
    exp.Not: ("NOT",),
    exp.Neg: ("-",),
}


class ReadAs:
    """What was read of a node. A copy of the node keeps the same."""

    __slots__ = ("part",)

    def __init__(self, part: object) -> None:
        self.part = part

    def __deepcopy__(self, _: object) -> "ReadAs":
        return self


def reading(read: Callable[Concatenate[Node, Given], Made]) -> Callable[Concatenate[Node, Given], Made]:
    """Of what reads a node of the parser: a refusal is about this node, and what was read is noted at it."""

    @wraps(read)
    def noting(node: Node, /, *given: Given.args, **named: Given.kwargs) -> Made:
        try:
            made = read(node, *given, **named)
        except Refused as refused:
            about(refused, node)
            raise
        if isinstance(node, exp.Expr):  # as a column, and as what is selected
            node.meta[READ_AS] = (*node.meta.get(READ_AS, ()), ReadAs(made))
        return made

    return noting


@contextmanager
def located(text: str, tree: exp.Expr | None = None) -> Iterator[None]:
    """A refusal from inside says in which text it is, and where if that is known. `tree`: what the text was read as."""
    try:
        yield
    except Refused as refused:
        refused.question, refused.at, refused.about = text, _place(refused.about, text, tree), ()
        raise


def _place(parts: Sequence[object], text: str, tree: exp.Expr | None) -> Span | None:
    """Start and end as of a slice; None where nothing shorter than the whole question can be named."""
    if parts and isinstance(parts[0], tuple):
        return parts[0]
    read = (part if isinstance(part, exp.Expr) or tree is None else _node_of(part, tree) for part in parts)
    node = next((node for node in read if isinstance(node, exp.Expr)), None)
    if node is None or (node.parent is None and isinstance(node, exp.Query)):
        return None
    words, span = PARSING.tokenize(text), _between(node)
    return _once(node, words) if span is None else _whole(words, *span, LEADING.get(type(node), ()))


def _node_of(part: object, tree: exp.Expr) -> exp.Expr | None:
    """The innermost node that was read as this very part; of a name after FROM, the table."""
    nodes = list(tree.walk())
    read = [node for node in nodes if any(noted.part is part for noted in node.meta.get(READ_AS, ()))]
    tables = [node for node in nodes if isinstance(node, exp.Table) and node.name == part]
    return read[-1] if read else tables[0] if tables else None


def _between(node: exp.Expr) -> Span | None:
    """From the first sign to the last of all words in it that the parser has placed."""
    placed = [part.meta for part in node.walk() if isinstance(part.meta.get("start"), int)]
    if not placed:
        return None
    return min(meta["start"] for meta in placed), max(meta["end"] for meta in placed)


def _once(node: exp.Expr, words: list[Token]) -> Span | None:
    """Of a node whose words the parser has not placed, such as NULL: where they stand, if they do so once."""
    wanted = [word.text.casefold() for word in PARSING.tokenize(node.sql(comments=False))]
    typed = [word.text.casefold() for word in words]
    found = [place for place in range(len(words)) if typed[place : place + len(wanted)] == wanted]
    return (words[found[0]].start, words[found[0] + len(wanted) - 1].end + 1) if len(found) == 1 else None


def _whole(words: list[Token], first: int, last: int, leading: tuple[str, ...]) -> Span | None:
    """With the words that lead it, and with the other half of each bracket in it.

    None where no word stands: `FROM people` is parsed with a `*` that nobody has typed.
    """
    inside = [place for place, word in enumerate(words) if word.end >= first and word.start <= last]
    if not inside:
        return None
    begin, end = inside[0], inside[-1]
    while begin > 0 and words[begin - 1].text.upper() in leading:
        begin -= 1
    if "CASE" in leading and end + 1 < len(words) and words[end + 1].text.upper() == "END":
        end += 1
    lowest = depth = 0
    for word in words[begin : end + 1]:
        depth += (word.text in OPENING) - (word.text in CLOSING)
        lowest = min(lowest, depth)
    opened, closed = depth - lowest, -lowest
    while closed and begin > 0:
        begin -= 1
        closed -= (words[begin].text in OPENING) - (words[begin].text in CLOSING)
    while opened and end + 1 < len(words):
        end += 1
        opened -= (words[end].text in CLOSING) - (words[end].text in OPENING)
    return words[begin].start, words[end].end + 1
