"""Words of other tools that the parser cannot take apart: refused by their tokens, with what says the same here."""

from collections.abc import Sequence
from itertools import pairwise

from sqlglot import Token, TokenType

from sfumato.query.wordings import refused_because

CLAUSE = ("SELECT", "WITH", "DIFFERENTIAL_PRIVACY")
# What a named argument says, and where it is said here.
NAMED = {
    "CONTRIBUTION_BOUNDS_PER_ROW": "Bounds are declared by the owner; LEAST(GREATEST(x, 0), 100) has narrower ones.",
    "CONTRIBUTION_BOUNDS_PER_GROUP": "max_rows_per_group=1 (--max-rows-per-group 1) stands beside the question; bounds "
    "are declared by the owner, and LEAST(GREATEST(x, 0), 100) has narrower ones.",
}


def refuse_foreign(tokens: Sequence[Token]) -> None:
    words = [token.text.upper() for token in tokens]
    if tuple(words[:3]) == CLAUSE:
        raise refused_because(
            "SELECT WITH DIFFERENTIAL_PRIVACY",
            "every answer is differentially private here, and what it costs is said beside the question",
            "Leave the clause out: epsilon is spend=1 (--spend 1), max_groups_contributed is max_groups=3 "
            "(--max-groups 3), delta is for discovering keys (--delta 1e-9), and the owner has named the unit.",
        )
    if words[:2] == ["SELECT", "TOP"] and len(tokens) > 2 and tokens[2].token_type is TokenType.NUMBER:
        most = tokens[2].text[:9]
        raise refused_because(f"TOP {most}", "LIMIT says the same", f"Leave it out, and end with LIMIT {most}.")
    for name, arrow in pairwise(tokens):
        if arrow.token_type is TokenType.FARROW:
            told = NAMED.get(name.text.upper(), "Write arguments without names, in their order.")
            raise refused_because(f"the named argument {name.text[:40]}", "arguments have no names here", told)
