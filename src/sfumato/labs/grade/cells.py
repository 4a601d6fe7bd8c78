"""Which cells of a notebook answer a task. Runs inside the box: the parent never parses a student's Python.

A cell is found by its id. Duplicated, moved, split cells and notebooks without any metadata are found by what they
define: the last cell that defines the wanted function and is no stub.
"""

import ast
import re
from collections.abc import Sequence
from typing import Any

_MAGIC = re.compile(r"^(\s*)[%!?].*$", re.MULTILINE)


def plain(source: str) -> str:
    """Python without the lines that only a notebook understands."""
    if source.lstrip().startswith("%%"):
        source = source.lstrip().partition("\n")[2]
    return _MAGIC.sub(r"\1pass", source)


def parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(plain(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _raises_stub(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Raise) or statement.exc is None:
        return False
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _is_stub(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Nothing but words and `pass`, or a way that always ends in NotImplementedError."""
    body = [one for one in function.body if not isinstance(one, ast.Pass)]
    body = [one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    return not body or any(_raises_stub(one) for one in body)


def defined(source: str) -> dict[str, bool]:
    """Names that a cell defines at its top -> is it a stub."""
    tree = parsed(source)
    if tree is None:
        # It does not compile, yet it is the answer: the student shall be told what is wrong with it.
        return dict.fromkeys(re.findall(r"^(?:async\s+)?def\s+(\w+)", source, re.MULTILINE), False)
    found: dict[str, bool] = {}
    for one in tree.body:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            found[one.name] = _is_stub(one)
        elif isinstance(one, ast.ClassDef):
            found[one.name] = False
        elif isinstance(one, ast.Assign):
            found.update({target.id: False for target in one.targets if isinstance(target, ast.Name)})
    return found


def chosen(cells: Sequence[dict[str, Any]], task: str, wanted: Sequence[str]) -> list[int]:
    """Places of the cells that answer a task, in the order of the notebook; empty when nothing defines it."""
    defines = [defined(cell["source"]) for cell in cells]
    places: set[int] = set()
    for name in wanted:
        own = [place for place, cell in enumerate(cells) if cell["id"] == task and name in defines[place]]
        others = [place for place in range(len(cells)) if name in defines[place]]
        done = [place for place in own if not defines[place][name]] or [
            place for place in others if not defines[place][name]
        ]
        candidates = done or own or others
        if candidates:
            places.add(candidates[-1])
    return sorted(places)


def helpers(source: str) -> str:
    """Imports, functions, classes and constants of a cell that answers no task: helpers a student wrote elsewhere."""
    tree = parsed(source)
    if tree is None:
        return ""
    kept = [one for one in tree.body if _is_helper(one)]
    return ast.unparse(ast.Module(body=kept, type_ignores=[])) if kept else ""


def _is_helper(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.ClassDef):
        return True
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return not _is_stub(statement)
    if not isinstance(statement, ast.Assign):
        return False
    try:
        ast.literal_eval(statement.value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
