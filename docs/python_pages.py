"""The reference of Python names: a page for what `sfumato` itself holds, one for each package, and an index of them."""

import ast
import enum
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import sfumato
from docs.markdown import MADE, anchors, inline, joined, table
from sfumato import errors
from sfumato.answers.explain import Explanation, Step
from sfumato.answers.recalled import Kept
from sfumato.envelope import Envelope
from sfumato.ledger.balance import Balance
from sfumato.ledger.history import Charge, Drawn
from sfumato.ledger.terms import Amount

OWN = "sfumato"  # the page of names that stand in the package itself
# Classes that nobody makes by hand, and where they come from.
MADE_BY = {
    "Answer": "What `session.ask` returns.",
    "Protected": "Made by `sf.Protected.open`. Use it in a `with` block, or close it.",
    "Session": "Made by `sf.open` and `sf.protect`. Use it in a `with` block, or close it.",
    "Balance": "What `session.budget` is.",
    "Kept": "What `session.recall` gives where a question cannot be planned again.",
    "Charge": "One entry of `session.history()`.",
    "Drawn": "One entry of `protected.draws()`.",
    "Envelope": "What `session.envelope` returns.",
    "Explanation": "What `session.explain` returns.",
    "Step": "One of the `steps` of an explanation.",
    "Amount": "An amount of privacy, as `cost`, `spent`, `left` and `limit` give it.",
}
RETURNED = (Balance, Charge, Drawn, Envelope, Kept, Amount, Explanation, Step)
NAMES: dict[str, Any] = {name: getattr(sfumato, name) for name in sfumato.__all__}
PACKAGES: dict[str, ModuleType] = {
    name: value for name, value in NAMES.items() if isinstance(value, ModuleType) and value is not errors
}


def python_pages() -> dict[str, Callable[[], str]]:
    """Each page under its name below docs/reference."""
    pages: dict[str, Callable[[], str]] = {"python.md": index_page, f"python/{OWN}.md": own_page}
    return pages | {f"python/{name}.md": partial(package_page, name) for name in PACKAGES}


def index_page() -> str:
    own = [f"sf.{name}" for name, value in NAMES.items() if not isinstance(value, ModuleType)]
    rows = [(f"[`sfumato`](python/{OWN}.md)", "sessions, declarations and answers", _linked(OWN, own))]
    rows += [
        (f"[`sf.{name}`](python/{name}.md)", _first_line(package), _linked(name, _of_package(name)))
        for name, package in PACKAGES.items()
    ]
    rows.append(("[`sf.errors`](errors.md)", _first_line(errors), "all of them: [errors](errors.md)"))
    lines = [
        "# Python",
        MADE,
        "```python\nimport sfumato as sf\n```",
        "These names are the public interface; whatever else a module holds may change. A name is loaded when it is "
        "first used.",
        table(("page", "what it holds", "names"), rows),
    ]
    return joined(lines)


def own_page() -> str:
    lines = ["# sfumato", MADE, "```python\nimport sfumato as sf\n```"]
    for name, value in NAMES.items():
        if not isinstance(value, ModuleType):
            lines += _named(f"sf.{name}", value, level=2)
    lines.append("## What sessions return")
    for value in RETURNED:
        lines += _named(value.__name__, value, level=3)
    return joined(lines)


def package_page(name: str) -> str:
    lines = [f"# sf.{name}", MADE, *_docstring(PACKAGES[name])]
    for inner in getattr(PACKAGES[name], "__all__", []):
        lines += _named(f"sf.{name}.{inner}", getattr(PACKAGES[name], inner), level=2)
    return joined(lines)


def _of_package(name: str) -> list[str]:
    return [f"sf.{name}.{inner}" for inner in getattr(PACKAGES[name], "__all__", [])]


def _linked(page: str, names: list[str]) -> str:
    places = anchors(names)
    return ", ".join(
        f"[{name.rpartition('.')[2]}](python/{page}.md#{place})" for name, place in zip(names, places, strict=True)
    )


def _first_line(package: ModuleType) -> str:
    return inline(inspect.cleandoc(package.__doc__ or "").split("\n\n")[0]).rstrip(".").replace("<", "&lt;")


def _named(shown: str, value: Any, *, level: int) -> Iterator[str]:
    yield f"{'#' * level} {shown}"
    if inspect.isclass(value):
        yield from _class(shown, value)
    elif inspect.isfunction(value):
        yield _signature(shown, value)
        yield from _docstring(value)
    else:
        yield (
            f"A constant, `{value!r}`."
            if isinstance(value, str | int | float | tuple)
            else f"A {type(value).__name__}."
        )


def _class(shown: str, value: type) -> Iterator[str]:
    written = _parsed(value)
    if not isinstance(written, ast.ClassDef):
        return
    makers = [part for part in written.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
    fields = [part for part in written.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)]
    public = [part for part in fields if not ast.unparse(part.target).startswith("_")]
    hidden = [part for part in fields if part.value is not None and "init=False" in ast.unparse(part.value)]
    if value.__name__ in MADE_BY:
        yield MADE_BY[value.__name__]
    elif makers:
        yield f"```python\n{_wrapped(shown, _parameters(value, makers[0].args, method=True), None)}\n```"
    elif not issubclass(value, enum.Enum) and not set(fields) - {*public, *hidden}:
        scope = vars(import_module(value.__module__))
        given = [(ast.unparse(part.target), part.annotation, part.value) for part in public]
        parts = [f"{name}: {_type(kind)}{_default(default, scope)}" for name, kind, default in given]
        yield f"```python\n{_wrapped(shown, parts, None)}\n```"
    yield from _docstring(value)
    if public:
        yield table(("attribute", "type"), [_attribute(part) for part in public])
    for part in written.body:
        if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
            decorated = [ast.unparse(item) for item in part.decorator_list]
            call = f".{part.name}"
            if "property" in decorated:
                yield f"**`{call}`** {inline(ast.get_docstring(part))}".rstrip()
            else:
                text = _wrapped(call, _parameters(value, part.args, method=True), part.returns)
                yield f"```python\n{text}\n```"
                yield from _paragraphs(ast.get_docstring(part))


def _default(written: ast.expr | None, scope: Mapping[str, Any]) -> str:
    if written is None:
        return ""
    known = scope.get(written.id) if isinstance(written, ast.Name) else None
    return f" = {known!r}" if isinstance(known, str | int | float) else f" = {ast.unparse(written)}"


def _attribute(part: ast.AnnAssign) -> tuple[str, str]:
    return f"`{ast.unparse(part.target)}`", f"`{_type(part.annotation)}`"


def _signature(shown: str, value: Any) -> str:
    written = _function(value)
    return f"```python\n{_wrapped(shown, _parameters(value, written.args), written.returns)}\n```"


def _function(value: Any) -> ast.FunctionDef:
    written = _parsed(value)
    if not isinstance(written, ast.FunctionDef):
        raise TypeError(f"{value!r} is no function")
    return written


def _parsed(value: Any) -> ast.stmt:
    """As it was typed: types by their own names, whatever the version of Python."""
    return ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]


def _parameters(value: Any, arguments: ast.arguments, *, method: bool = False) -> list[str]:
    """Each parameter with its type and default; a default that is a constant of the module is shown by its value."""
    scope = vars(import_module(value.__module__))

    def written(part: ast.arg, default: ast.expr | None) -> str:
        kind = f": {_type(part.annotation)}" if part.annotation is not None else ""
        return part.arg + kind + _default(default, scope)

    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults
    parts = [written(*pair) for pair in zip(plain, defaults, strict=True)][1 if method else 0 :]
    if arguments.vararg or arguments.kwonlyargs:
        parts.append(f"*{written(arguments.vararg, None)}" if arguments.vararg else "*")
    parts += [written(*pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    return parts + ([f"**{written(arguments.kwarg, None)}"] if arguments.kwarg else [])


def _type(annotation: ast.expr) -> str:
    return re.sub(r"'(\w+)'", r"\1", ast.unparse(annotation))


def _wrapped(call: str, parts: list[str], returns: ast.expr | None) -> str:
    arrow = f" -> {_type(returns)}" if returns is not None else ""
    line = f"{call}({', '.join(parts)}){arrow}"
    return line if len(line) <= 100 else "\n".join([f"{call}(", *(f"    {part}," for part in parts), f"){arrow}"])


def _docstring(value: Any) -> Iterator[str]:
    written = value.__doc__ or ""
    if inspect.isclass(value) and written.startswith(f"{value.__name__}("):  # what @dataclass puts in
        written = ""
    yield from _paragraphs(inspect.cleandoc(written))


def _paragraphs(text: str | None) -> Iterator[str]:
    for paragraph in (text or "").split("\n\n"):
        code = all(
            line.startswith(("import ", "session ", "answer ", "    ", "sf.")) for line in paragraph.splitlines()
        )
        if paragraph.strip():
            yield f"```python\n{textwrap.dedent(paragraph)}\n```" if code else paragraph.replace("<", "&lt;")
