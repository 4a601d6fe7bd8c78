"""The folder of the demo: what it writes there, and the policy of the town."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

from sfumato.datasets.clinic import DIAGNOSES
from sfumato.datasets.variables import EDUCATION, MARITAL_STATUS, SEX
from sfumato.errors import UsageError

MARK = "# Written by `sfumato demo`, and written anew by its next run."
LEDGER_FILES = ("town.ledger", "town.ledger-wal", "town.ledger-shm", "town.ledger.anchor", "town.ledger.anchor.key")
OTHER_FILES = ("town.parquet", "synthetic.parquet", "report.html")


@dataclass(frozen=True, slots=True)
class Files:
    folder: Path

    @property
    def town(self) -> Path:
        return self.folder / "town.parquet"

    @property
    def policy(self) -> Path:
        return self.folder / "town.toml"

    @property
    def ledger(self) -> Path:
        return self.folder / "town.ledger"

    @property
    def synthetic(self) -> Path:
        return self.folder / "synthetic.parquet"

    @property
    def report(self) -> Path:
        return self.folder / "report.html"


def prepare(folder: Path) -> Files:
    """A folder with the policy and nothing else of the demo in it.

    Claim: removes the files of an earlier demo only. Somebody's own town.ledger is a budget that must not be refilled,
    so the policy beside it has to carry the mark of the demo.
    """
    files = Files(folder)
    names = (*LEDGER_FILES, *OTHER_FILES)
    try:
        found = [name for name in (files.policy.name, *names) if (folder / name).exists()]
        if found and not _is_ours(files.policy):
            raise UsageError(
                f"{folder} holds {found[0]}, which the demo did not write.", "Name another folder with --output."
            )
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            (folder / name).unlink(missing_ok=True)
        files.policy.write_text(policy(), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be used: {error.strerror}.", "Name another folder with --output.") from None
    return files


def policy() -> str:
    """What the owner of the town promises, in TOML."""
    return f"""{MARK}
[data]
source = "town.parquet"
table = "town"

[unit]    # who is protected: all that one person contributed
id = "person_id"
max_rows = 12
max_groups = 1

[budget]
epsilon = 3
delta = 1e-6

[columns]    # a column that is not declared does not exist for analysts
name = {{ type = "identifier" }}
zip = {{ type = "text" }}
birth_date = {{ type = "text" }}
occupation = {{ type = "text" }}
age = {{ type = "int", lower = 17, upper = 90 }}
income = {{ type = "float", lower = 0, upper = 200000 }}
cost = {{ type = "float", lower = 0, upper = 10000 }}
sex = {{ type = "category", values = [{_listed(SEX)}] }}
education = {{ type = "category", values = [
{_wrapped(EDUCATION)}] }}
marital_status = {{ type = "category", values = [
{_wrapped(MARITAL_STATUS)}] }}
diagnosis = {{ type = "category", values = [
{_wrapped([entry.name for entry in DIAGNOSES])}] }}
"""


def _is_ours(policy: Path) -> bool:
    return policy.is_file() and policy.read_bytes().startswith(MARK.encode())


def _listed(values: Sequence[str]) -> str:
    return ", ".join(f'"{value}"' for value in values)


def _wrapped(values: Sequence[str]) -> str:
    # A value stays whole: its own blanks are not places to break a line.
    text = _listed([value.replace(" ", "\0") for value in values])
    return fill(text, width=76, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False).replace("\0", " ")
