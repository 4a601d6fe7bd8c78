"""Writes what follows from the code: reference pages of errors, commands and Python names, and the trusted ring.

python -m docs.generate

The same code gives the same pages, on every machine: nothing is measured, dated or looked up. A test compares the pages
in docs/reference with what this file would write, so whatever is public is documented; others compare the tables of
the trusted ring (`docs.ring`) with the list that decides.
"""

import ast
import enum
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType, UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer.models import ArgumentInfo

import sfumato
from docs.ring import write_ring
from docs.wordings import wordings_page
from sfumato import errors
from sfumato.answers.explain import Explanation, Step
from sfumato.answers.recalled import Kept
from sfumato.cli.main import COMMANDS, app
from sfumato.ledger.balance import Balance
from sfumato.ledger.history import Charge
from sfumato.ledger.terms import Amount

REFERENCE = Path(__file__).parent / "reference"
MADE = "<!-- Written by `python -m docs.generate`. Change the code, then run it again. -->"

# Classes that nobody makes by hand, and where they come from.
MADE_BY = {
    "Answer": "What `session.ask` returns.",
    "Protected": "Made by `sf.Protected.open`. Use it in a `with` block, or close it.",
    "Session": "Made by `sf.open` and `sf.protect`. Use it in a `with` block, or close it.",
    "Balance": "What `session.budget` is.",
    "Kept": "What `session.recall` gives where a question cannot be planned again.",
    "Charge": "One entry of `session.history()`.",
    "Explanation": "What `session.explain` returns.",
    "Step": "One of the `steps` of an explanation.",
    "Amount": "An amount of privacy, as `cost`, `spent`, `left` and `limit` give it.",
}
RETURNED = (Balance, Charge, Kept, Amount, Explanation, Step)


def main() -> None:
    for name, write in PAGES.items():
        (REFERENCE / name).write_text(write(), encoding="utf-8")
    write_ring()


# ---- errors


def errors_page() -> str:
    tree = textwrap.dedent(str(errors.__doc__)).split("\n\n")[1]
    lines = [
        "# Errors",
        MADE,
        "Every error of Sfumato is a `SfumatoError`. It has a `message`, which says what happened and why, and a "
        "`hint`, which says what to do next. Neither ever shows a value from the data. In the shell the number beside "
        "an error is the exit code; with `--format json` standard error holds "
        '`{"error": …, "message": …, "hint": …}`.',
        f"```text\n{tree.rstrip()}\n```",
        "Errors with the codes 2, 3 and 4 charge nothing. An `EngineFailed` comes after the charge, and the charge "
        "stands: whether an engine gives up may depend on the data.",
        *wordings_page(_table),
    ]
    return _joined(lines)


# ---- commands


def commands_page() -> str:
    rows = [(f"[`{name}`](#sfumato-{name})", text) for name, (_, text) in COMMANDS.items()]
    lines = [
        "# Commands",
        MADE,
        str(app.info.help),
        "Every command takes `--help`. Exit codes: 0 done, 2 wrong use, 3 refused, 4 over budget, 5 a file or the "
        "engine; [errors](errors.md) lists them.",
        _table(("command", "what it does"), rows),
    ]
    for name, (module, _) in COMMANDS.items():
        lines += _command(name, import_module(module).app)
    return _joined(lines)


def _command(name: str, commands: typer.Typer) -> Iterator[str]:
    yield f"## sfumato {name}"
    if len(commands.registered_commands) == 1:
        yield from _usage(f"sfumato {name}", commands.registered_commands[0].callback)
        return
    yield _inline(str(commands.info.help))
    for verb in commands.registered_commands:
        word = verb.name or str(getattr(verb.callback, "__name__", "")).replace("_", "-")
        yield f"### sfumato {name} {word}"
        yield from _usage(f"sfumato {name} {word}", verb.callback)


def _usage(call: str, callback: Callable[..., Any] | None) -> Iterator[str]:
    """From the annotations of a command, which do not depend on the version of Typer."""
    arguments, options = [], []
    for part in inspect.signature(callback or print).parameters.values():
        if get_origin(part.annotation) is not Annotated:  # Typer's own context
            continue
        kind, about = _annotated(part)
        needed = part.default is part.empty
        default = "" if needed or part.default is None or part.default is False else f"`{_plain(part.default)}`"
        if isinstance(about, ArgumentInfo):
            word = part.name.upper() + ("…" if kind.endswith("…") else "")
            arguments.append((word if needed else f"[{word}]", f"`{part.name.upper()}`", about.help, default))
            continue
        given = [about.default, *(about.param_decls or ())]  # inside Annotated, the first spelling lands in `default`
        spelt = [word for word in given if isinstance(word, str) and word.startswith("-")]
        spelt = spelt or [f"--{part.name.replace('_', '-')}"]
        name = ", ".join(f"`{option}`" for option in spelt)
        taken = "" if kind == "flag" else f" {kind}"
        options.append(
            (f"{spelt[0]}{taken}" if needed else "", name + taken, about.help, "needed" if needed else default)
        )
    words = [call, *(part[0] for part in arguments), *(part[0] for part in options if part[0])]
    yield _inline(inspect.getdoc(callback))
    yield "```text\n" + " ".join([*words, *(["[OPTIONS]"] if any(not part[0] for part in options) else [])]) + "\n```"
    rows = [(name, _inline(told), default) for _, name, told, default in [*arguments, *options]]
    yield _table(("argument or option", "meaning", "default"), rows)


def _annotated(part: inspect.Parameter) -> tuple[str, Any]:
    """What stands after an option, and what Typer was told about it."""
    annotation, about = part.annotation.__origin__, part.annotation.__metadata__[0]
    if annotation is bool:
        return "flag", about
    if isinstance(annotation, UnionType):
        annotation = next(kind for kind in get_args(annotation) if kind is not type(None))
    repeated = get_origin(annotation) is list
    kind = get_args(annotation)[0] if repeated else annotation
    choices = get_args(kind) if get_origin(kind) is Literal else kind if issubclass(kind, enum.Enum) else ()
    if choices:
        return "|".join(map(_plain, choices)), about
    word = {str: "TEXT", int: "INTEGER", float: "NUMBER", Path: "PATH"}.get(kind, "VALUE")
    return f"{word}…" if repeated else word, about


def _plain(value: object) -> str:
    return str(value.value if isinstance(value, enum.Enum) else value)


# ---- Python


def python_page() -> str:
    lines = [
        "# Python",
        MADE,
        "```python\nimport sfumato as sf\n```",
        "These names are the public interface; whatever else a module holds may change. A name is loaded when it is "
        "first used.",
    ]
    names = {name: getattr(sfumato, name) for name in sfumato.__all__}
    for name, value in names.items():
        if not isinstance(value, ModuleType):
            lines += _named(f"sf.{name}", value, level=2)
    lines.append("## What sessions return")
    for value in RETURNED:
        lines += _named(value.__name__, value, level=3)
    for name, value in names.items():
        if isinstance(value, ModuleType):
            lines += [f"## sf.{name}", *_docstring(value)]
            if value is errors:
                lines.append("Every error and its wordings: [errors](errors.md).")
                continue
            for inner in getattr(value, "__all__", []):
                lines += _named(f"sf.{name}.{inner}", getattr(value, inner), level=3)
    return _joined(lines)


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
        yield _table(("attribute", "type"), [_attribute(part) for part in public])
    for part in written.body:
        if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
            decorated = [ast.unparse(item) for item in part.decorator_list]
            call = f".{part.name}"
            if "property" in decorated:
                yield f"**`{call}`** {_inline(ast.get_docstring(part))}".rstrip()
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


# ---- Markdown


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in line) + " |" for line in lines)


def _inline(text: str | None) -> str:
    return " ".join((text or "").split())


def _joined(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "errors.md": errors_page,
    "cli.md": commands_page,
    "python.md": python_page,
}

if __name__ == "__main__":
    main()
