"""The command table. A command's module is imported only when that command runs, so `--help` stays instant."""

import gc
import io
import json
import sys
from importlib import import_module
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from sfumato.cli.pointing import pointed
from sfumato.errors import Refused, SfumatoError, UsageError

# name -> (module, what the help page says about it)
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("sfumato.cli.demo", "A tour on built-in data: questions, attacks, budget, report."),
    "init": ("sfumato.cli.init", "Draft a policy from the column names and types of a table."),
    "check": ("sfumato.cli.check", "For the owner: how many cells fit the declarations, and who exceeds caps."),
    "ask": ("sfumato.cli.ask", "Ask a question, pay for it, get an answer with error bars."),
    "explain": ("sfumato.cli.explain", "Show plan, sensitivity, cost, expected error and SQL; touches no data."),
    "bounds": ("sfumato.cli.bounds", "The sum of a column clipped at every bound, as one release with its plot."),
    "learn": ("sfumato.cli.learn", "Learn a model from a private table, for one charge."),
    "synth": ("sfumato.cli.synth", "Make a synthetic table: rows that nobody is, for one charge."),
    "evaluate": ("sfumato.cli.evaluate", "How good a model is on private rows, with error bars."),
    "predict": ("sfumato.cli.predict", "Predict rows of your own with a model."),
    "card": ("sfumato.cli.card", "Show what a model protects, how it was learnt and how sure it is; or its SQL."),
    "budget": ("sfumato.cli.budget", "Show the limit, what is spent and what is left."),
    "history": ("sfumato.cli.history", "List every charge."),
    "ledger": ("sfumato.cli.ledger", "Verify and show the ledger; record the owner's changes."),
    "noise": ("sfumato.cli.noise", "The mechanisms on your own number."),
    "local": ("sfumato.cli.local", "Collect without trust: randomise on the client, estimate on the server."),
    "geo": ("sfumato.cli.geo", "Protect positions, point sets and traces; draw maps."),
    "account": ("sfumato.cli.account", "What several mechanisms cost together, by every bound."),
    "epsilon": ("sfumato.cli.epsilon", "What an epsilon means, in words, numbers and a plot."),
    "labs": ("sfumato.cli.labs", "Laboratory work: notebooks that check themselves, hand-outs, a whole course."),
    "audit": ("sfumato.cli.audit", "Attack every mechanism and every aggregate of Sfumato itself."),
    "attack": ("sfumato.cli.attack", "Attacks on the bare table, on older protections and on differential privacy."),
    "compare": ("sfumato.cli.compare", "Older methods and differential privacy, measured on the same table."),
    "anonymise": ("sfumato.cli.anonymise", "Older methods that change a table: k-anonymity and its kin."),
    "risk": ("sfumato.cli.risk", "Measure who stands out in a table."),
}
# What is loaded stays: to look through it for what is not needed at every 700 new objects takes a twentieth of a start.
LOADED = 50_000


class LazyGroup(TyperGroup):
    """Lists commands from the table; imports one when it is invoked."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the framework's signature
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name][1]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, stub, rest = super().resolve_command(ctx, args)
        return name, typer.main.get_command(import_module(COMMANDS[name][0]).app) if name in COMMANDS else stub, rest


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    # A traceback shows lines of code and no variables: one of them may hold sums before noise.
    pretty_exceptions_show_locals=False,
    help="Answers questions about people without giving any of them away.",
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Show the version and leave.")) -> None:
    if version:
        typer.echo(import_module("sfumato").__version__)
        raise typer.Exit


def run(arguments: list[str] | None = None) -> None:
    """The console entry point: errors of ours become a message and an exit code, never a traceback."""
    gc.set_threshold(LOADED)
    arguments = sys.argv[1:] if arguments is None else arguments
    as_json = _wants_json(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character shows a question mark
    try:
        sys.exit(app(arguments, prog_name="sfumato", standalone_mode=not as_json))
    except typer.TyperException as error:  # a wrong option, met in JSON mode
        failure: SfumatoError = UsageError(error.format_message(), "See: sfumato --help")
    except SfumatoError as error:
        failure = error
    report(failure, as_json=as_json)
    sys.exit(failure.exit_code)


def report(error: SfumatoError, *, as_json: bool) -> None:
    name = type(error).__name__
    at = error.at if isinstance(error, Refused) else None
    if as_json:
        place = {} if at is None else {"at": at}
        print(json.dumps({"error": name, "message": error.message, "hint": error.hint, **place}), file=sys.stderr)
    else:
        print(f"{name}: {error}", file=sys.stderr)
        if isinstance(error, Refused) and at is not None:
            print(pointed(error.question, at), file=sys.stderr)


def _wants_json(arguments: list[str]) -> bool:
    return "--format=json" in arguments or ("--format", "json") in pairwise(arguments)
