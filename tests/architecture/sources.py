"""The package's own source, parsed: who imports what, who calls what."""

import ast
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path

import sfumato

ROOT = Path(__file__).parents[2]
PACKAGE = Path(sfumato.__file__).parent


@dataclass(frozen=True)
class Source:
    """A file of the package under its name in it, e.g. 'ledger/chain.py'."""

    name: str
    text: str

    @property
    def tree(self) -> ast.Module:
        return parsed(self.text)

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        return walked(self.text)

    def imports(self) -> frozenset[str]:
        return imports_of(self.text)

    def calls(self) -> frozenset[str]:
        return calls_of(self.text)


# Every door is looked for in every file: each is read, walked and searched once.
@cache
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def walked(text: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(parsed(text)))


@cache
def imports_of(text: str) -> frozenset[str]:
    return frozenset(imported(walked(text)))


@cache
def calls_of(text: str) -> frozenset[str]:
    return frozenset(called(walked(text)))


def imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Dotted names: `from a.b import c` gives a.b and a.b.c."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def called(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The last word of everything that is called: a.b.c() gives c."""
    for node in nodes:
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Attribute):
                yield function.attr
            elif isinstance(function, ast.Name):
                yield function.id


NO_CODE = frozenset({"COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER"})


def code_lines(text: str) -> int:
    """How many lines there are to read, without imports, docstrings, comments and blank lines."""
    found: set[int] = set()
    for token in tokenize.generate_tokens(StringIO(text).readline):
        if tokenize.tok_name[token.type] not in NO_CODE:
            found |= set(range(token.start[0], token.end[0] + 1))
    for node in walked(text):
        match node:
            case ast.Import() | ast.ImportFrom():
                found -= _lines_of(node)
            case (
                ast.Module(body=[ast.Expr(value=ast.Constant(value=str())) as said, *_])
                | ast.ClassDef(body=[ast.Expr(value=ast.Constant(value=str())) as said, *_])
                | ast.FunctionDef(body=[ast.Expr(value=ast.Constant(value=str())) as said, *_])
            ):
                found -= _lines_of(said)
    return len(found)


def _lines_of(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


# What students read and write: cells with placeholders, checks and wrong answers. labs/source.py alone loads it.
TAUGHT = "labs/content/"


@cache
def sources() -> tuple[Source, ...]:
    paths = [path for path in sorted(PACKAGE.rglob("*.py")) if TAUGHT not in path.as_posix()]
    return tuple(Source(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")) for path in paths)


def importers(module: str) -> set[str]:
    """The files that import a module, or something inside it."""
    return {
        source.name
        for source in sources()
        if any(name == module or name.startswith(f"{module}.") for name in source.imports())
    }


def callers(function: str) -> set[str]:
    return {source.name for source in sources() if function in source.calls()}
