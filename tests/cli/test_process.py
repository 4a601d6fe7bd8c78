"""The installed `sfumato` in a process of its own: exit codes, streams, light imports, help pages."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
import typer

from sfumato import __version__
from sfumato.cli.main import COMMANDS

SFUMATO = Path(sys.executable).with_name("sfumato")
COUNT = "SELECT COUNT(*) AS n FROM people"
HEAVY = ("numpy", "duckdb", "sqlglot", "pyarrow", "pandas", "polars", "plotly", "matplotlib", "scipy", "sqlite3")


def sfumato(*arguments: object, **settings: object) -> subprocess.CompletedProcess[str]:
    command = [str(SFUMATO), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, encoding="utf-8", **settings)


@pytest.mark.slow
def test_a_whole_session_in_the_shell(policy: Path, tmp_path: Path) -> None:
    asked = sfumato("ask", "people.toml", COUNT, "--spend", "0.5", "--format", "json", cwd=tmp_path)
    assert (asked.returncode, asked.stderr) == (0, "")
    assert json.loads(asked.stdout)["left"]["epsilon"] == 2.5
    drafted = sfumato("init", "people.csv", "--output", "draft.toml", cwd=tmp_path)
    assert (drafted.returncode, drafted.stderr) == (0, "")
    assert (tmp_path / "draft.toml").exists()
    for command in (
        ["explain", "people.toml", COUNT, "--spend", "0.5"],
        ["budget", "people.toml"],
        ["history", "people.toml"],
        ["ledger", "verify", "people.toml"],
        ["ledger", "raise", "people.toml"],
        ["ledger", "analyst", "people.toml", "press", "--epsilon", "1"],
    ):
        done = sfumato(*command, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), command
        assert done.stdout


@pytest.mark.parametrize(
    ("code", "error", "arguments"),
    [
        (2, "UsageError", ["people.toml", COUNT]),
        (3, "Refused", ["people.toml", "SELECT 1", "--spend", "0.5"]),
        (4, "BudgetExceeded", ["people.toml", COUNT, "--spend", "4"]),
        (5, "DataUnreadable", ["missing.toml", COUNT, "--spend", "0.5"]),
    ],
)
def test_exit_codes(policy: Path, tmp_path: Path, code: int, error: str, arguments: list[str]) -> None:
    done = sfumato("ask", *arguments, "--format", "json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert json.loads(done.stderr)["error"] == error


def test_a_terminal_that_cannot_show_umlauts_or_boxes_still_works(policy: Path, tmp_path: Path) -> None:
    plain = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = sfumato("budget", "people.toml", cwd=tmp_path, env=plain)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_stops_early_gets_no_traceback(policy: Path, tmp_path: Path) -> None:
    """sfumato history people.toml | head -1"""
    piped = f"'{SFUMATO}' history people.toml | true"
    done = subprocess.run(["sh", "-c", piped], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr


def test_version_and_unknown_commands() -> None:
    assert sfumato("--version").stdout == f"{__version__}\n"
    unknown = sfumato("aks")
    assert unknown.returncode == 2
    assert "aks" in unknown.stderr


@pytest.mark.parametrize("what", ["import sfumato", "from sfumato.cli.main import run; run(['--help'])"])
def test_help_and_import_load_nothing_heavy(what: str) -> None:
    code = (
        f"import sys\ntry:\n    {what}\nfinally:\n    print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)"
    )
    # Without the variables that make a child measure its coverage, which loads modules of its own.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=plain)
    assert done.returncode == 0
    assert done.stderr == "[]\n"


def test_the_table_of_commands_is_the_help_page() -> None:
    page = sfumato("--help")
    assert page.returncode == 0
    for name, (_, words) in COMMANDS.items():
        assert name in page.stdout
        assert words.split()[0] in page.stdout


def every_command() -> list[tuple[str, click.Command]]:
    found, waiting = (
        [],
        [(name, typer.main.get_command(import_module(home).app)) for name, (home, _) in COMMANDS.items()],
    )
    while waiting:
        name, command = waiting.pop()
        found.append((name, command))
        children = getattr(command, "commands", {})
        waiting += [(f"{name} {child}", children[child]) for child in children]
    return sorted(found, key=lambda pair: pair[0])


@pytest.mark.parametrize(("name", "command"), every_command(), ids=[name for name, _ in every_command()])
def test_every_command_and_every_option_has_help(name: str, command: click.Command) -> None:
    assert command.help, f"sfumato {name} does not say what it does"
    assert command.help.split("\n\n")[0].strip().endswith("."), f"sfumato {name}: help is a sentence"
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"sfumato {name}: {parameter.name} does not say what it is"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_its_help_page(shell, name: str) -> None:
    code, out, err = shell(name, "--help")
    assert (code, err) == (0, "")
    assert f"sfumato {name}" in out
