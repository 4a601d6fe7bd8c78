"""Words of other tools that the parser cannot take apart: refused by their tokens, with what says the same here."""

from collections.abc import Sequence
from itertools import pairwise

from sqlglot import Token, TokenType

from sfumato.errors import Refused
from sfumato.query.about import about
from sfumato.query.wordings import refused_because

CLAUSE = ["SELECT", "WITH", "DIFFERENTIAL_PRIVACY"]
# What a named argument says, and where it is said here.
NAMED = {
    "CONTRIBUTION_BOUNDS_PER_ROW": "Bounds are declared by the owner; LEAST(GREATEST(x, 0), 100) has narrower ones.",
    "CONTRIBUTION_BOUNDS_PER_GROUP": "max_rows_per_group=1 (--max-rows-per-group 1) stands beside the question; bounds "
    "are declared by the owner, and LEAST(GREATEST(x, 0), 100) has narrower ones.",
}


def refuse_foreign(tokens: Sequence[Token]) -> None:
    words = [token.text.upper() for token in tokens]
    if words[:3] == CLAUSE:
        options = words[3:5] == ["OPTIONS", "("] and ")" in words
        raise _from_to(
            tokens[1 : words.index(")") + 1 if options else 3],
            refused_because(
                "SELECT WITH DIFFERENTIAL_PRIVACY",
                "every answer is differentially private here, and what it costs is said beside the question",
                "Leave the clause out: epsilon is spend=1 (--spend 1), max_groups_contributed is max_groups=3 "
                "(--max-groups 3), delta is for discovering keys (--delta 1e-9), and the owner has named the unit.",
            ),
        )
    if found := _top(tokens, words):
        most = next(token.text for token in found if token.token_type is TokenType.NUMBER)[:9]
        raise _from_to(
            found, refused_because(f"TOP {most}", "LIMIT says the same", f"Leave it out, and end with LIMIT {most}.")
        )
    for name, arrow in pairwise(tokens):
        if arrow.token_type is TokenType.FARROW:
            told = NAMED.get(name.text.upper(), "Write arguments without names, in their order.")
            what = f"the named argument {name.text[:40]}"
            raise _from_to((name, arrow), refused_because(what, "arguments have no names here", told))


def _top(tokens: Sequence[Token], words: list[str]) -> Sequence[Token]:
    """TOP 5 or TOP (5) where it opens a question; else nothing."""
    first = 2 if words[1:2] in (["DISTINCT"], ["ALL"]) else 1
    if words[:1] != ["SELECT"] or words[first : first + 1] != ["TOP"]:
        return ()
    kinds = [token.token_type for token in tokens[first + 1 : first + 4]]
    if kinds[:1] == [TokenType.NUMBER]:
        return tokens[first : first + 2]
    bracket = [TokenType.L_PAREN, TokenType.NUMBER, TokenType.R_PAREN]
    return tokens[first : first + 4] if kinds == bracket else ()


def _from_to(found: Sequence[Token], refused: Refused) -> Refused:
    """About the text from the first of these words to the last."""
    return about(refused, (found[0].start, found[-1].end + 1))
