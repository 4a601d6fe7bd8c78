"""How the analyst's text is taken apart into words: in one way, for reading it and for finding a place in it."""

from typing import ClassVar

import sqlglot


class Written(sqlglot.Dialect):
    """What nobody's SQL minds, and names in back-ticks."""

    class Tokenizer(sqlglot.Tokenizer):
        IDENTIFIERS: ClassVar = ['"', "`"]


PARSING = Written()
