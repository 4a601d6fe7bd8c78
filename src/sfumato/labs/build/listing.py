"""Code on paper: a line that is wider than the page is broken where Python allows it, and stays code."""

import io
import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from unicodedata import east_asian_width

WIDTH = 80.0  # letters of a line; what is wider would run over the edge of a page in one of the formats
WIDE = 5 / 3  # a Chinese letter, measured in letters of code
INDENT = "    "
EARLY = -99  # a place in the first half of a line is the last choice
OPENING, CLOSING = "([{", ")]}"
LEADING = ("for", "if", "else", "and", "or", "+", "-", "*", "/", "==", "<", "<=", ">", ">=")  # begin a line well
# Text may be broken after a space, and beside a Chinese letter; never before a closing mark.
CLOSED = "[，。；：、！？）”」]*[ ]*"
PIECE = re.compile(rf"[^\s⺀-鿿＀-￯]+{CLOSED}|[⺀-鿿＀-￯]{CLOSED}|\s+")


def folded(code: str) -> str:
    """The same code in lines that fit.

    Claim: it means the same to Python, except for the line breaks within docstrings.
    Proof: code is broken only between tokens inside brackets, where line breaks mean nothing; a comment after code
    moves to the line before; of strings only those that stand alone, as docstrings do, are broken.
    """
    if all(wide(line) <= WIDTH for line in code.split("\n")):
        return code
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return code  # a line for the notebook and not for Python
    lines: list[str] = []
    for number, line in enumerate(code.split("\n"), start=1):
        here = [token for token in tokens if token.start[0] == token.end[0] == number and token.string.strip()]
        lines += [line] if wide(line) <= WIDTH or not here else _narrow(line, here, _depth(tokens, number))
    return "\n".join(lines)


def wide(line: str) -> float:
    """How many letters of code are as wide as this line."""
    return sum(WIDE if east_asian_width(letter) in "WF" else 1.0 for letter in line)


def _narrow(line: str, tokens: list[tokenize.TokenInfo], depth: int) -> list[str]:
    indent = line[: len(line) - len(line.lstrip())]
    if tokens[-1].type == tokenize.COMMENT:
        said = [f"{indent}# {row}" for row in _rows(tokens[-1].string.lstrip("# "), len(indent) + 2)]
        code = line[: tokens[-1].start[1]].rstrip()
        return [*said, *(_narrow(code, tokens[:-1], depth) if wide(code) > WIDTH else [code])] if code.strip() else said
    if len(tokens) == 1 and tokens[0].type == tokenize.STRING:
        return [indent + row for row in _rows(line.strip(), len(indent))]
    return list(_broken(line, tokens, depth, indent))


def _rows(words: str, indent: int) -> Iterator[str]:
    """Text in rows that fit beside an indent."""
    row = ""
    for piece in PIECE.findall(words):
        if row and indent + wide((row + piece).rstrip()) > WIDTH:
            yield row.rstrip()
            row = ""
        row += piece
    yield row.rstrip()


def _broken(line: str, tokens: list[tokenize.TokenInfo], depth: int, indent: str) -> Iterator[str]:
    """Code in lines that fit: broken as far out of brackets as can be, and there as late as can be."""
    start, lead = len(indent), indent
    while wide(lead + line[start:]) > WIDTH:
        places: list[tuple[int, bool, int]] = []  # how far out of brackets, whether "for" follows, and where
        deep = depth
        for token, after in pairwise(tokens):
            if token.type == tokenize.OP:
                deep += (token.string in OPENING) - (token.string in CLOSING)
            place = after.start[1]
            allowed = deep > 0 and (token.string == "," or token.string in OPENING or after.string in LEADING)
            if allowed and start < place and wide(lead + line[start:place].rstrip()) <= WIDTH:
                late = wide(line[start:place]) > WIDTH / 2
                places.append((-deep if late else EARLY, after.string == "for", place))
        if not places:
            break
        end = max(places)[2]
        yield lead + line[start:end].rstrip()
        start, lead = end, indent + INDENT
    yield lead + line[start:]


def _depth(tokens: list[tokenize.TokenInfo], number: int) -> int:
    """Brackets that are open where a line begins."""
    before = [token.string for token in tokens if token.type == tokenize.OP and token.start[0] < number]
    return sum((sign in OPENING) - (sign in CLOSING) for sign in before)
