"""sfumato local: collect from people who trust nobody."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato import local
from sfumato.cli.format import Format, Usual
from sfumato.cli.local_files import STDIN, read_kind, reports, values, writing, written_kind
from sfumato.cli.output import as_csv, as_json, as_table, number, print_record, print_rows, working, write
from sfumato.cli.progress import counting
from sfumato.cli.writable import Static, ToFile, page_ready
from sfumato.errors import UsageError, so_many
from sfumato.local.trial import trial, zipf_counts
from sfumato.plots.page import Figure, Section, page, write_page

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Collect without trust: each value is randomised where it is, and only the crowd can be estimated.",
)

Spec = Annotated[Path | None, typer.Option("--spec", help="The specification that plan wrote, for both sides.")]
Name = Annotated[
    str, typer.Option("--protocol", help="auto, rr, grr, sue, oue, olh, hadamard, subset, rappor; for a mean: duchi …")
]
DomainOption = Annotated[
    str | None, typer.Option("--domain", help="The possible answers, with commas; or a range 0..99.")
]
Epsilon = Annotated[str | None, typer.Option(help="What one report costs the person it is about.")]
Lower = Annotated[str | None, typer.Option(help="The lower bound of a number.")]
Upper = Annotated[str | None, typer.Option(help="The upper bound of a number.")]
Source = Annotated[str, typer.Argument(help="A CSV, JSON, Parquet, Arrow or .txt file, or - for a pipe.")]
Kind = Annotated[
    str | None, typer.Option("--from", help="The format of the input: lines, csv, json, parquet or arrow.")
]
FormatOption = Annotated[Usual, typer.Option("--format", help="How to print.")]
Confidence = Annotated[float, typer.Option(help="How surely the error bars hold the truth.")]


@app.command()
def plan(
    protocol: Name = "auto",
    domain: DomainOption = None,
    lower: Lower = None,
    upper: Upper = None,
    epsilon: Epsilon = None,
    attribute: Annotated[
        list[str] | None, typer.Option(help="One of several questions, name=a,b,c or name=lower:upper; repeat it.")
    ] = None,
    way: Annotated[
        str, typer.Option(help="With several questions, each person answers one (sample) or all (split).")
    ] = "sample",
    alphabet: Annotated[
        str | None, typer.Option(help="For texts that nobody can list: the characters they may hold.")
    ] = None,
    length: Annotated[int, typer.Option(min=1, help="The longest such text.")] = 8,
    users: Annotated[int, typer.Option(min=1, help="How many people you expect.")] = 10_000,
    output: Annotated[Path | None, typer.Option(help="Write the specification to this file, e.g. survey.json.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Choose a protocol, see its error, and write the specification that clients and server share.

    sfumato local plan --domain tea,coffee,water --epsilon 1 --output survey.json
    """
    if attribute or alphabet:
        chosen = _larger(attribute or [], way, alphabet, length, epsilon)
    else:
        chosen = _made(protocol, domain, lower, upper, epsilon)
    if output is not None:
        chosen.save(output)
    spec = chosen.spec()
    rows = _comparison(chosen, users)
    if format is Format.json:
        write(
            as_json({"spec": spec, "fingerprint": chosen.fingerprint, "epsilon": chosen.epsilon, "choices": rows}), None
        )
        return
    if format is Format.csv:
        write(as_csv(["protocol", "error", "bits", "chosen"], rows), None)
        return
    footer = f"Chosen: {chosen.name}, epsilon {chosen.epsilon:.6g} per report, parameters {chosen.fingerprint}."
    if rows:
        footer += f" Error: one deviation of the count of a rare value among {users:,} people."
    write(as_table(["protocol", "error", "bits", "chosen"], rows, footer=footer) if rows else footer + "\n", None)


def _comparison(chosen: local.Protocol, users: int) -> list[dict[str, Any]]:
    """One deviation of the count of a rare value, for every protocol that could serve."""
    if "domain" not in chosen.spec() or chosen.name in ("rappor", "rr"):
        return []
    found = local.compare(len(chosen.scheme.domain), chosen.scheme.price)  # type: ignore[attr-defined]
    return [
        {
            "protocol": one["protocol"],
            "error": (one["variance"] * users) ** 0.5,
            "bits": one["bits"],
            "chosen": "yes" if one["protocol"] == chosen.name else "",
        }
        for one in found
    ]


@app.command()
def randomise(
    source: Source = STDIN,
    spec: Spec = None,
    protocol: Name = "auto",
    domain: DomainOption = None,
    lower: Lower = None,
    upper: Upper = None,
    epsilon: Epsilon = None,
    column: Annotated[str | None, typer.Option(help="The column that holds the values.")] = None,
    kind: Kind = None,
    output: Annotated[str, typer.Option(help="A .jsonl, .csv or .parquet file, or - for a pipe.")] = STDIN,
    to: Annotated[str | None, typer.Option(help="The format of the output: jsonl, csv or parquet.")] = None,
) -> None:
    """The client's side: one randomised report for each value. Each row must belong to another person.

    sfumato local randomise answers.csv --column drink --spec survey.json --output reports.jsonl
    """
    client = (chosen := _chosen(spec, protocol, domain, lower, upper, epsilon)).client()
    read_as = read_kind(source, kind, "csv" if column or chosen.scheme.names else "lines")
    written_as = written_kind(output, to)
    total = 0
    with writing(output, written_as) as keep, counting("Randomising") as tick:
        for row, batch in values(chosen, source, read_as, column):
            made = client.randomise(batch, row=row)
            keep(made)
            tick(len(made))
            total += len(made)
    if not total:
        raise UsageError("there is no answer to randomise.", "The input is empty; check the file or the pipe.")
    typer.echo(f"{so_many(total, 'report')} by {chosen.name}, epsilon {client.epsilon:.6g} each.", err=True)


@app.command()
def report(
    device: Annotated[Path, typer.Argument(help="The device file; made at the first report, readable by you alone.")],
    value: Annotated[str, typer.Argument(help="The answer, an object for several questions, or - for a pipe.")],
    spec: Annotated[Path, typer.Option(help="The specification that plan wrote, for both sides.")],
    budget: Annotated[
        str | None, typer.Option(help="What the device may spend in all; one report if not given.")
    ] = None,
    repeat: Annotated[
        str, typer.Option(help="memo: the same answer gives the same report; fresh: a new one.")
    ] = "memo",
) -> None:
    """One person's side: a known answer is reported as before, a new one is paid from the budget of the device.

    echo tea | sfumato local report me.json - --spec survey.json --budget 2
    """
    chosen = local.load(spec)
    limit = None if budget is None else number(budget, "budget")
    kept = local.Device(chosen, budget=limit, repeat=repeat, path=device)
    told = kept.report(_answer(chosen, sys.stdin.readline().rstrip("\r\n") if value == STDIN else value))
    typer.echo(json.dumps(told, separators=(",", ":")))
    typer.echo(f"Spent epsilon {kept.spent:.6g}; {kept.left:.6g} left.", err=True)


def _answer(chosen: local.Protocol, text: str) -> Any:
    """One answer from its text; several come as a JSON object."""
    names = chosen.scheme.names
    if not names:
        return chosen.scheme.read({"value": [text]})[0]
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    if not isinstance(given, dict) or sorted(given) != sorted(names):
        raise UsageError("the answer does not hold every question.", f'Write {{"{names[0]}": …}} with each name.')
    cells = {name: [one if isinstance(one, str) else json.dumps(one)] for name, one in given.items()}
    return {name: column[0] for name, column in chosen.scheme.read(cells).items()}


@app.command()
def estimate(
    source: Source = STDIN,
    spec: Spec = None,
    protocol: Name = "auto",
    domain: DomainOption = None,
    lower: Lower = None,
    upper: Upper = None,
    epsilon: Epsilon = None,
    kind: Kind = None,
    confidence: Confidence = 0.95,
    plot: Annotated[Path | None, typer.Option(help="Draw the counts into this .html file.")] = None,
    static: Static = False,
    output: ToFile = None,
    format: FormatOption = Format.table,
) -> None:
    """The server's side: counts or a mean with error bars, from reports made with the same specification.

    sfumato local estimate reports.jsonl --spec survey.json
    """
    page_ready(wanted=plot is not None, static=static)
    chosen = _chosen(spec, protocol, domain, lower, upper, epsilon)
    with counting("Estimating") as tick:
        server = chosen.server().add(reports(source, read_kind(source, kind, "json"), tick))
        found = server.estimate(confidence)
    if plot is not None:
        _draw(found, plot, static=static)
    rows = found.rows
    columns = list(rows[0]) if rows else ["value", "count", "unbiased", "low", "high"]
    footer = (
        f"{so_many(found.users, 'report')} by {chosen.name}, epsilon {found.epsilon:.6g} each; "
        f"low and high hold the truth with {100 * confidence:g} %."
    )
    content = {"protocol": chosen.name, **found.to_dict()}
    print_rows(columns, rows, format, output, footer=footer, content=content)


def _draw(found: Any, path: Path, *, static: bool) -> None:
    if not isinstance(found, local.Estimate):
        raise UsageError("there is no plot of this estimate.", "Leave --plot out.")
    if path.suffix.lower() != ".html":
        raise UsageError(f"{path.name} is not .html.", "Name the plot e.g. counts.html.")
    takeaway = f"{so_many(found.users, 'randomised report')}, epsilon {found.epsilon:.6g} each, with their error bars"
    sections = [Section("Counts", [Figure(found.plot(), takeaway)])]
    write_page(path, page("Collected without trust", sections, static=static))


@app.command()
def simulate(
    epsilon: Annotated[str, typer.Option(help="What one report costs the person it is about.")] = "1",
    protocol: Name = "auto",
    values: Annotated[int, typer.Option(min=2, help="How many values there are; the i-th is i times rarer.")] = 16,
    users: Annotated[int, typer.Option(min=2, help="How many people report.")] = 10_000,
    rounds: Annotated[int, typer.Option(min=1, help="How often the whole collection is repeated.")] = 20,
    liars: Annotated[int, typer.Option(min=0, help="How many more people lie, to push the rarest value.")] = 0,
    format: FormatOption = Format.table,
) -> None:
    """Try a protocol on made-up people: its error, the error it should have, and what liars do to it."""
    chosen = local.protocol(protocol, domain=range(values), epsilon=number(epsilon, "epsilon"))
    with working("Simulating …"):
        found = trial(chosen, zipf_counts(values, users), rounds=rounds, liars=liars)
    print_record(found.to_dict(), _told(found), format)


def _told(found: Any) -> str:
    lines = [
        f"{found.protocol}: {found.users:,} people, {found.rounds} rounds.",
        f"Error of a count: {found.error:.1f}; by theory {found.expected:.1f}; made consistent {found.consistent:.1f}.",
        f"95 % error bars hold the truth in {100 * found.covered:.1f} %.",
    ]
    if found.shift is not None:
        lines.append(
            f"Liars moved the rarest value by {found.shift:.1f}; no lie moves it by more than {found.shift_bound:.1f}."
        )
    return "\n".join(lines)


@app.command()
def shuffle(
    epsilon: Annotated[str, typer.Option(help="What one report costs before shuffling.")],
    users: Annotated[int, typer.Option(min=2, help="How many reports are shuffled.")],
    delta: Annotated[str, typer.Option(help="The chance that epsilon does not hold.")] = "1e-6",
    format: FormatOption = Format.table,
) -> None:
    """What reports cost when somebody trusted shuffles them and removes the senders."""
    found = local.shuffled(number(epsilon, "epsilon"), users=users, delta=number(delta, "delta"))
    record = {"local_epsilon": float(epsilon), "users": users, "delta": float(delta), "epsilon": found}
    told = f"{users:,} shuffled reports of epsilon {epsilon} are ({found:.4f}, {delta})-DP together"
    print_record(record, f"{told}, when one person's value is replaced.", format)


def _chosen(
    spec: Path | None, name: str, domain: str | None, lower: str | None, upper: str | None, epsilon: str | None
) -> local.Protocol:
    if spec is None:
        return _made(name, domain, lower, upper, epsilon)
    if domain or lower or upper or epsilon:
        raise UsageError("--spec says domain, bounds and epsilon already.", "Leave them out, or leave --spec out.")
    return local.load(spec)


def _made(name: str, domain: str | None, lower: str | None, upper: str | None, epsilon: str | None) -> local.Protocol:
    price = None if epsilon is None else number(epsilon, "epsilon")
    if domain is not None:
        return local.protocol(name, domain=_listed(domain), epsilon=price)
    if lower is None or upper is None:
        raise UsageError("it is not said what people may answer.", "Give --spec, or --domain, or --lower and --upper.")
    if price is None:
        raise UsageError("epsilon is missing.", "Say how much, e.g. --epsilon 1.")
    return local.mean(name, lower=number(lower, "lower"), upper=number(upper, "upper"), epsilon=price)


def _larger(attribute: list[str], way: str, alphabet: str | None, length: int, epsilon: str | None) -> local.Protocol:
    """Several questions, or the frequent ones of texts that nobody can list."""
    if epsilon is None:
        raise UsageError("epsilon is missing.", "Say how much, e.g. --epsilon 1.")
    price = number(epsilon, "epsilon")
    if alphabet is not None:
        if attribute:
            raise UsageError("--alphabet and --attribute do not go together.", "Plan two collections.")
        return local.heavy_hitters(alphabet=alphabet, length=length, epsilon=price)
    parts: dict[str, Any] = {}
    for one in attribute:
        name, sign, content = one.partition("=")
        if not sign or not name or name in parts:
            raise UsageError(
                "an attribute is not name=values, or comes twice.", "Write e.g. --attribute drink=tea,coffee."
            )
        low, colon, high = content.partition(":")
        parts[name] = (number(low, name), number(high, name)) if colon else _listed(content)
    return local.attributes(parts, epsilon=price, way=way)


def _listed(domain: str) -> Any:
    low, dots, high = domain.partition("..")
    if dots and low.lstrip("-").isdecimal() and high.lstrip("-").isdecimal():
        return range(int(low), int(high) + 1)
    if domain.startswith("["):
        try:
            return json.loads(domain)
        except ValueError:
            raise UsageError("the domain is not JSON.", 'Write e.g. --domain tea,coffee or ["a, b", "c"].') from None
    return domain.split(",")
