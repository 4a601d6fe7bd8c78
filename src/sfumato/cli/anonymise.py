"""`sfumato anonymise`: the older methods on a file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato import anonymise
from sfumato.anonymise.wordings import key_missing
from sfumato.cli.anonymise_output import listed, pairs, parts, show
from sfumato.cli.format import Format, Usual
from sfumato.cli.output import number, print_rows, working
from sfumato.cli.progress import progress
from sfumato.cli.writable import ToFile
from sfumato.errors import file_unreadable
from sfumato.schema.policy import load_policy

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Older methods that change a table: k-anonymity and its kin. None of them is differentially private.",
)

Source = Annotated[Path, typer.Argument(metavar="TABLE", help="A CSV, JSON, Parquet or Arrow file.")]
Quasi = Annotated[list[str] | None, typer.Option(help="What others may know: columns, repeated or with commas.")]
SensitiveColumns = Annotated[list[str] | None, typer.Option("--sensitive", help="What must not come out: columns.")]
Policy = Annotated[Path | None, typer.Option(help="A policy whose columns have roles, instead of naming them here.")]
Rules = Annotated[
    list[str] | None,
    typer.Option("--hierarchy", help="column=file.csv, column=intervals:5,10, =dates, =prefixes, =automatic, =hidden."),
]
K = Annotated[int, typer.Option("--k", min=1, help="The smallest group.")]
L = Annotated[str | None, typer.Option("--l", help="Sensitive values in every group.")]
DiversityKind = Annotated[str, typer.Option("--diversity", help="distinct, entropy or recursive.")]
C = Annotated[str | None, typer.Option("--c", help="The factor of recursive diversity.")]
T = Annotated[str | None, typer.Option("--t", help="The largest distance of a group from the whole, 0 to 1.")]
Distance = Annotated[str, typer.Option(help="auto, equal, ordered or hierarchical.")]
Identifiers = Annotated[list[str] | None, typer.Option("--identifier", help="Columns to remove.")]
Output = Annotated[Path | None, typer.Option(help="Where to write the table, .csv or .parquet.")]
Printed = Annotated[Usual, typer.Option("--format", help="How to print what was done.")]
Columns = Annotated[list[str], typer.Option("--column", help="Columns to change, repeated or with commas.")]
Scale = Annotated[str, typer.Option(help="The deviation of the noise; for additive noise a share of the column's.")]
Seed = Annotated[int, typer.Option(min=0, help="Whoever knows the seed can undo this.")]


@app.command("k-anonymity")
def k_anonymity(
    table: Source,
    quasi: Quasi = None,
    k: K = 5,
    hierarchy: Rules = None,
    sensitive: SensitiveColumns = None,
    l: L = None,
    diversity: DiversityKind = "distinct",
    c: C = None,
    t: T = None,
    distance: Distance = "auto",
    suppression: Annotated[str, typer.Option(help="The share of rows that may be left out.")] = "0",
    metric: Annotated[str, typer.Option(help="What is kept low: loss, discernibility or class_size.")] = "loss",
    search: Annotated[str, typer.Option(help="flash or exhaustive.")] = "flash",
    identifier: Identifiers = None,
    policy: Policy = None,
    output: Output = None,
    format: Printed = Format.table,
) -> None:
    """Generalise as little as possible so that k rows share every combination; optimal over all levels.

    sfumato anonymise k-anonymity people.csv --quasi age,sex,zip --k 5 --hierarchy age=intervals:5,10 --output safe.csv
    """
    asked = _asked(quasi, sensitive, identifier, policy, hierarchy, {"l": l, "c": c, "t": t})
    with progress("Searching the lattice …") as report:
        result = anonymise.k_anonymity(
            table,
            k=k,
            diversity=diversity,
            distance=distance,
            suppression=float(number(suppression, "suppression")),
            metric=metric,
            search=search,
            progress=report,
            **asked,
        )
    show(result, output=output, format=format)


@app.command()
def mondrian(
    table: Source,
    quasi: Quasi = None,
    k: K = 5,
    hierarchy: Rules = None,
    sensitive: SensitiveColumns = None,
    l: L = None,
    diversity: DiversityKind = "distinct",
    c: C = None,
    t: T = None,
    distance: Distance = "auto",
    identifier: Identifiers = None,
    policy: Policy = None,
    output: Output = None,
    format: Printed = Format.table,
) -> None:
    """Cut the table at medians into groups of k or more, and release their ranges: the most detail for a given k."""
    asked = _asked(quasi, sensitive, identifier, policy, hierarchy, {"l": l, "c": c, "t": t})
    with progress("Cutting …") as report:
        result = anonymise.mondrian(table, k=k, diversity=diversity, distance=distance, progress=report, **asked)
    show(result, output=output, format=format)


@app.command()
def suppress(
    table: Source,
    quasi: Quasi = None,
    k: K = 5,
    limit: Annotated[str, typer.Option(help="The largest share of rows that may be left out.")] = "0.05",
    rows_only: Annotated[bool, typer.Option("--rows-only", help="Leave out whole rows, hide no cells.")] = False,
    sensitive: SensitiveColumns = None,
    policy: Policy = None,
    output: Output = None,
    format: Printed = Format.table,
) -> None:
    """Hide cells of small groups, then leave out rows, up to a limit."""
    names, secrets, _ = parts(quasi, sensitive, policy)
    share = float(number(limit, "limit"))
    with working("Suppressing …"):
        result = anonymise.suppress(table, names, k=k, limit=share, cells=not rows_only, sensitive=secrets)
    show(result, output=output, format=format)


@app.command()
def aggregate(
    table: Source,
    by: Annotated[list[str], typer.Option(help="Columns to group by, repeated or with commas.")],
    measure: Annotated[list[str] | None, typer.Option(help="column=sum, mean, min or max; repeat it.")] = None,
    least: Annotated[int, typer.Option(min=1, help="Groups of fewer rows are left out.")] = 5,
    output: Output = None,
    format: Printed = Format.table,
) -> None:
    """A table of totals, without small groups."""
    with working("Adding up …"):
        result = anonymise.aggregate(
            table, listed(by), measures=pairs(measure, "--measure", "income=mean"), least=least
        )
    show(result, output=output, format=format)


@app.command()
def deidentify(
    table: Source,
    identifier: Identifiers = None,
    output: Output = None,
    format: Printed = Format.table,
) -> None:
    """Remove the columns that name people: those listed, or those that look like names."""
    with working("Removing …"):
        result = anonymise.deidentify(table, listed(identifier) or None)
    show(result, output=output, format=format)


@app.command()
def pseudonyms(
    table: Source,
    column: Columns,
    key_file: Annotated[Path | None, typer.Option(help="A file with the secret key; it is made if missing.")] = None,
    length: Annotated[int, typer.Option(help="Hexadecimal digits of a pseudonym.")] = 16,
    output: Output = None,
    format: Printed = Format.table,
) -> None:
    """Replace names by HMAC-SHA-256 under a secret key: equal names stay equal, nobody else can test a guess."""
    if key_file is None:
        raise key_missing()
    with working("Replacing …"):
        result = anonymise.pseudonyms(table, listed(column), key=_key(key_file), length=length)
    show(result, output=output, format=format)


@app.command("additive-noise")
def additive_noise(
    table: Source,
    column: Columns,
    scale: Scale = "0.1",
    seed: Seed = 0,
    output: Output = None,
    format: Printed = Format.table,
) -> None:
    """Add normal noise to numbers. A simulation: the noise can be estimated and taken off."""
    share = float(number(scale, "scale"))
    show(anonymise.additive_noise(table, listed(column), scale=share, seed=seed), output=output, format=format)


@app.command("multiplicative-noise")
def multiplicative_noise(
    table: Source,
    column: Columns,
    scale: Scale = "0.1",
    seed: Seed = 0,
    output: Output = None,
    format: Printed = Format.table,
) -> None:
    """Multiply numbers by log-normal noise. A simulation: logarithms make it additive."""
    share = float(number(scale, "scale"))
    show(anonymise.multiplicative_noise(table, listed(column), scale=share, seed=seed), output=output, format=format)


@app.command()
def rotation(
    table: Source, column: Columns, seed: Seed = 0, output: Output = None, format: Printed = Format.table
) -> None:
    """Turn number columns together by a random rotation. A few known rows undo it."""
    show(anonymise.rotation(table, listed(column), seed=seed), output=output, format=format)


@app.command()
def microaggregation(
    table: Source, column: Columns, k: K = 3, output: Output = None, format: Printed = Format.table
) -> None:
    """Replace numbers by the mean of k rows that are near each other."""
    with working("Grouping …"):
        result = anonymise.microaggregation(table, listed(column), k=k)
    show(result, output=output, format=format)


@app.command()
def swapping(
    table: Source,
    column: Columns,
    share: Annotated[str, typer.Option(help="The share of the rows that take part.")] = "0.1",
    seed: Seed = 0,
    output: Output = None,
    format: Printed = Format.table,
) -> None:
    """Exchange values between random pairs of rows."""
    part = float(number(share, "share"))
    show(anonymise.swapping(table, listed(column), share=part, seed=seed), output=output, format=format)


@app.command()
def classify(
    table: Source,
    policy: Policy = None,
    format: Printed = Format.table,
    output: ToFile = None,
) -> None:
    """Suggest which columns are identifiers, quasi-identifiers, sensitive or other. This looks at the values."""
    roles = {} if policy is None else load_policy(policy).roles
    with working("Looking …"):
        found = [suggestion.to_dict() for suggestion in anonymise.classify(table, roles=roles)]
    columns = ["column", "role", "why", "distinct", "uniqueness"]
    footer = 'Set them in the policy, e.g. age = { type = "int", lower = 0, upper = 120, role = "quasi-identifier" }.'
    print_rows(columns, found, format, output, footer=footer)


def _asked(
    quasi: list[str] | None,
    sensitive: list[str] | None,
    identifier: list[str] | None,
    policy: Path | None,
    hierarchy: list[str] | None,
    wanted: dict[str, str | None],
) -> dict[str, Any]:
    """What k-anonymity and Mondrian are asked alike."""
    names, secrets, gone = parts(quasi, sensitive, policy)
    return {
        "quasi": names,
        "sensitive": secrets,
        "identifiers": listed(identifier) or gone,
        "hierarchies": pairs(hierarchy, "--hierarchy", "age=age.csv"),
        **{what: _maybe(text, what) for what, text in wanted.items()},
    }


def _maybe(text: str | None, what: str) -> float | None:
    if text is None:
        return None
    value = number(text, what)
    return int(value) if value == value.to_integral_value() else float(value)


def _key(path: Path) -> bytes:
    """The key in a file; a new one is written where nobody else can read it."""
    try:
        if path.exists():
            return path.read_bytes()
        key = anonymise.new_key()
        path.touch(mode=0o600)
        path.write_bytes(key)
    except OSError as error:
        raise file_unreadable(str(path), error.strerror or "the disk refuses it") from None
    return key
