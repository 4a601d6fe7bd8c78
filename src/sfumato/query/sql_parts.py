"""Parts of a question, each read alone: a part that reaches beyond itself is refused.

A part is put in brackets and parsed; it must be all that the brackets hold. It is then written out anew from what the
parser saw, so that no remark, quote or bracket of it survives into the whole.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from sqlglot import exp

from sfumato.errors import Refused
from sfumato.query.question import Question, Selected, SelectedCall, SelectedFormula
from sfumato.query.sql import one_statement, parse, rewritten
from sfumato.query.sql_dialect import PARSING
from sfumato.query.sql_expressions import DEEPEST
from sfumato.query.wordings import part_not_text, part_refused, too_deep

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Part:
    """The text of one expression, written out anew; `joined`: it is a AND b."""

    text: str
    joined: bool


def read_part(text: str, what: str) -> Part:
    """One expression.

    Claim: the text given back is one expression wherever it is put, or Refused.
    """
    if not isinstance(text, str):
        raise part_not_text(what, type(text).__name__)
    try:
        node = one_statement(f"({text}\n)")
        if not isinstance(node, exp.Paren):
            raise part_refused(what, text)
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.Alias | exp.Star):
            raise part_refused(what, text)
        written = node.sql(comments=False)
    except RecursionError:
        raise too_deep(DEEPEST) from None
    return Part(f"({written})" if isinstance(node, exp.Or) else written, isinstance(node, exp.And))


def written_name(name: str, what: str) -> str:
    """A name as it stands in a question: plain where the gate reads it as that name, else in double quotes."""
    if not isinstance(name, str):
        raise part_not_text(what, type(name).__name__)
    if PLAIN.fullmatch(name):
        try:
            read = parse(f"SELECT COUNT(*) AS {name} FROM {name}")
        except Refused:
            read = None
        if read is not None and (read.table, read.selected[0].name) == (name, name):
            return name
    return '"' + name.replace('"', '""') + '"'


@lru_cache(maxsize=256)
def written_back(text: str) -> str:
    """A question in one line, without remarks, as the parser saw it.

    Claim: parsed again it is the same question. What the parser would write otherwise is written word by word.
    Needs: a text that `parse` takes.
    """
    meant = _meaning(parse(text))
    for write in (rewritten, lambda typed: " ".join(words(typed))):
        try:
            if _meaning(parse(written := write(text))) == meant:
                return written
        except Refused:
            pass
    return text


def words(text: str) -> list[str]:
    """The words and signs of a text as they were typed, without remarks. Needs: a text that was taken apart before."""
    return [text[token.start : token.end + 1] for token in PARSING.tokenize(text)]


def _meaning(question: Question) -> Question:
    """All of a question but the words for messages, in which remarks stand as well."""
    return replace(question, selected=tuple(_without_words(item) for item in question.selected))


def _without_words(item: Selected) -> Selected:
    match item:
        case SelectedCall():
            return replace(item, text="")
        case SelectedFormula(parts=parts):
            own = (replace(part, call=replace(part.call, name="", text="")) for part in parts)
            return replace(item, text="", parts=tuple(own))
        case _:
            return item
