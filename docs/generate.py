"""Writes what follows from the code: reference pages of errors, commands and Python names, the index of all pages, and
the trusted ring.

python -m docs.generate

The same code gives the same pages, on every machine: nothing is measured, dated or looked up. A test compares the pages
in docs/reference with what this file would write, so whatever is public is documented; others compare the index and
the tables of the trusted ring (`docs.ring`) with the files and the list that decide.
"""

import enum
import inspect
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer.models import ArgumentInfo

from docs.index import write_index
from docs.markdown import MADE, inline, joined, table
from docs.python_pages import python_pages
from docs.ring import write_ring
from docs.wordings import wordings_page
from sfumato import errors
from sfumato.cli.main import COMMANDS, app

REFERENCE = Path(__file__).parent / "reference"


def main() -> None:
    (REFERENCE / "python").mkdir(exist_ok=True)
    for old in (REFERENCE / "python").glob("*.md"):
        old.unlink()
    for name, write in PAGES.items():
        (REFERENCE / name).write_text(write(), encoding="utf-8")
    write_index()
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
        *wordings_page(table),
    ]
    return joined(lines)


# ---- commands


def commands_page() -> str:
    rows = [(f"[`{name}`](#sfumato-{name})", text) for name, (_, text) in COMMANDS.items()]
    lines = [
        "# Commands",
        MADE,
        str(app.info.help),
        "Every command takes `--help`. Exit codes: 0 done, 2 wrong use, 3 refused, 4 over budget, 5 a file or the "
        "engine; [errors](errors.md) lists them.",
        table(("command", "what it does"), rows),
    ]
    for name, (module, _) in COMMANDS.items():
        lines += _command(name, import_module(module).app)
    return joined(lines)


def _command(name: str, commands: typer.Typer) -> Iterator[str]:
    yield f"## sfumato {name}"
    if len(commands.registered_commands) == 1:
        yield from _usage(f"sfumato {name}", commands.registered_commands[0].callback)
        return
    yield inline(str(commands.info.help))
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
    yield inline(inspect.getdoc(callback))
    yield "```text\n" + " ".join([*words, *(["[OPTIONS]"] if any(not part[0] for part in options) else [])]) + "\n```"
    rows = [(name, inline(told), default) for _, name, told, default in [*arguments, *options]]
    yield table(("argument or option", "meaning", "default"), rows)


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


PAGES: dict[str, Callable[[], str]] = {"errors.md": errors_page, "cli.md": commands_page} | python_pages()

if __name__ == "__main__":
    main()
