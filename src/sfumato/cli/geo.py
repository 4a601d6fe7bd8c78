"""`sfumato geo`: reports of positions, private quadtrees, the comparison, traces, words."""

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato import geo
from sfumato.cli.format import Format, Usual, WithMap
from sfumato.cli.geo_output import (
    Sink,
    afterwards,
    box_of,
    counted,
    name_bad,
    pair_of,
    price_of,
    progress,
    vectors_from,
)
from sfumato.cli.output import number, print_record, print_rows, working, write
from sfumato.cli.writable import Static, ToFile, ready
from sfumato.geo.inputs import Reading
from sfumato.geo.planar import level_of
from sfumato.geo.wordings import not_a_position
from sfumato.visible import visible_lines

NEGATIVE_NUMBERS = {"ignore_unknown_options": True}

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Positions without anyone to trust: reports, traces, private maps of points.",
)

Source = Annotated[str | None, typer.Argument(help="A CSV, JSON, GeoJSON, Parquet or Arrow file, or - for a pipe.")]
Points = Annotated[str, typer.Argument(help="A CSV, JSON, GeoJSON, Parquet or Arrow file, or - for a pipe.")]
Level = Annotated[str, typer.Option(help="How much a report may tell within the radius, e.g. 1.39 or 'ln 4'.")]
Radius = Annotated[str, typer.Option("--radius", help="The radius in metres.")]
Around = Annotated[str | None, typer.Option(help="A public place LAT,LON: draw on a flat lattice around it.")]
LatName = Annotated[str | None, typer.Option("--lat", help="The column of latitudes.")]
LonName = Annotated[str | None, typer.Option("--lon", help="The column of longitudes.")]
Kind = Annotated[str | None, typer.Option("--input-format", help="csv, json, geojson, parquet or arrow.")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out and name them, instead of stopping.")]
At = Annotated[str | None, typer.Option("--at", help="One position LAT,LON instead of a file.")]
Plot = Annotated[Path | None, typer.Option(help="Draw it into this .html, .png or .svg file.")]
Shape = Annotated[WithMap, typer.Option("--format", help="How to print.")]
Price = Annotated[str, typer.Option(help="The price of the tree.")]
AreaBox = Annotated[str | None, typer.Option("--box", help="The public area SOUTH,WEST,NORTH,EAST; else the world.")]
Counts = Annotated[list[str] | None, typer.Option("--count", help="Count the points in this box; repeat it.")]


@app.command(context_settings=NEGATIVE_NUMBERS)
def report(
    source: Source = None,
    level: Level = "ln 4",
    radius: Radius = "200",
    around: Around = None,
    at: At = None,
    lat: LatName = None,
    lon: LonName = None,
    input_format: Kind = None,
    skip_bad: SkipBad = False,
    places: Annotated[str | None, typer.Option(help="A file of public places: a report becomes the closest.")] = None,
    remap: Annotated[bool, typer.Option("--remap", help="With --places: the best guess if all are as likely.")] = False,
    plot: Plot = None,
    static: Static = False,
    format: Shape = Format.table,
    output: ToFile = None,
) -> None:
    """Replace positions by noisy reports, a batch at a time: within the radius odds change by e^level at most."""
    mechanism = price_of(level, radius, around)
    if (source is None) == (at is None):
        raise not_a_position("one of a file or --at LAT,LON")
    ready(output, plot=plot, static=static)
    told = afterwards(mechanism, places, remap=remap)
    with Sink(mechanism, format, output, keep=plot is not None) as sink:
        if at is not None:
            sink.add(*told(*pair_of(at)))
        else:
            reading = Reading(source, lat, lon, input_format, skip_bad)
            for lats, lons in progress(reading):
                sink.add(*told(lats, lons))
            name_bad(reading.problems)
    if plot is not None:
        geo.draw_reports(*sink.kept(), error_m=mechanism.error_m()).save(plot, static=static)


@app.command(context_settings=NEGATIVE_NUMBERS)
def tree(
    points: Points,
    epsilon: Price,
    box: AreaBox = None,
    count: Counts = None,
    points_per_person: Annotated[int, typer.Option(min=1, help="The most points one person has.")] = 1,
    lat: LatName = None,
    lon: LonName = None,
    input_format: Kind = None,
    skip_bad: SkipBad = False,
    plot: Plot = None,
    static: Static = False,
    format: Shape = Format.table,
    output: ToFile = None,
) -> None:
    """A private quadtree of points: its leaves, or the counts of boxes with error bars; --plot draws the heat map."""
    ready(output, plot=plot, static=static)
    reading = Reading(points, lat, lon, input_format, skip_bad)
    boxes = [box_of(text) for text in count or ()]
    area = None if box is None else box_of(box)
    columns = counted(reading)
    name_bad(reading.problems)
    with working("Growing the tree …"):
        made = geo.privtree(columns, epsilon=number(epsilon, "epsilon"), box=area, points_per_person=points_per_person)
        if plot is not None:
            geo.draw_tree(made, box=area).save(plot, static=static)
    if format is Format.geojson:
        write(json.dumps(made.geojson()) + "\n", output)
        return
    names = ("south", "west", "north", "east")
    if boxes:
        found = [(asked, made.count(asked)) for asked in boxes]
        rows: list[dict[str, Any]] = [
            {**dict(zip(names, asked, strict=True)), "count": one.count, "low": one.low, "high": one.high}
            for asked, one in found
        ]
        footer = f"Low and high hold the true number with 95 % confidence. The whole tree cost epsilon {epsilon}."
    else:
        rows = sorted(made.rows(), key=lambda row: -row["count"])
        rows = rows[:20] if format is Format.table else rows
        footer = f"{len(made):,} leaves, about {max(made.total, 0):,} points; the fullest come first. Cost: {epsilon}."
    print_rows(list(rows[0]), rows, format, output, footer=footer)


app.command("protect", help="The same as report.", context_settings=NEGATIVE_NUMBERS)(report)
app.command("heatmap", help="The same as tree; say --plot map.html.", context_settings=NEGATIVE_NUMBERS)(tree)


@app.command()
def compare(
    level: Level = "ln 4",
    radius: Radius = "200",
    prior: Annotated[list[str] | None, typer.Option(help="uniform or town; repeat it.")] = None,
    plot: Plot = None,
    static: Static = False,
    format: Annotated[Usual, typer.Option(help="How to print.")] = Format.table,
    output: ToFile = None,
) -> None:
    """Planar noise beside cloaking and bounded obfuscation: expected distance, the best attacker's error, the level."""
    ready(output, plot=plot, static=static)
    with working("Computing …"):
        metres = number(radius, "radius_m")
        found = [geo.compare(level=level_of(level), radius_m=metres, prior=name) for name in prior or geo.PRIORS]
        if plot is not None:
            geo.draw_comparison(found).save(plot, static=static)
    rows = [{"prior": comparison.prior, **row} for comparison in found for row in comparison.rows]
    if format is Format.json:
        rows = [{**row, "epsilon_per_m": _finite(row["epsilon_per_m"])} for row in rows]
    else:
        rows = [{**row, "epsilon_per_m": f"{row['epsilon_per_m']:.6g}"} for row in rows]
    footer = "All at the same expected distance. Without a finite epsilon, two people a metre apart can be told apart."
    print_rows(list(rows[0]), rows, format, output, footer=footer)


@app.command(context_settings=NEGATIVE_NUMBERS)
def trace(
    device: Annotated[Path, typer.Argument(help="The device file; made at the first report, readable by you alone.")],
    at: Annotated[str, typer.Option("--at", help="The position LAT,LON.")],
    per_day: Annotated[str, typer.Option(help="What a day may cost, in levels; a new place costs one level.")],
    level: Level = "ln 4",
    radius: Radius = "200",
    around: Around = None,
    total: Annotated[str | None, typer.Option(help="What the whole trace may cost, in levels.")] = None,
    when: Annotated[datetime | None, typer.Option(help="The time of the position; now, if not given.")] = None,
    format: Annotated[Usual, typer.Option(help="How to print.")] = Format.table,
) -> None:
    """Report a position of a trace: known places again as before, new ones from the budget of the day."""
    limit = None if total is None else number(total, "total")
    kept = geo.device(device, price_of(level, radius, around), per_day=number(per_day, "per_day"), total=limit)
    told = kept.report(*pair_of(at), at=when)
    row = {"lat": told.lat, "lon": told.lon, "reused": told.reused, "left_today": told.left_today}
    how = "as before, at no cost" if told.reused else "new"
    print_record(row, f"{told.lat:.5f}, {told.lon:.5f} ({how}; {told.left_today:g} left today)", format)


@app.command()
def words(
    text: Annotated[str, typer.Argument(help="The text to protect, or - for a pipe.")],
    vectors: Annotated[Path, typer.Option(help="Word vectors: one word and its numbers per line, as GloVe writes.")],
    epsilon: Annotated[str, typer.Option(help="The price of a word, per unit of distance.")],
    skip_unknown: Annotated[bool, typer.Option("--skip-unknown", help="Leave words without a vector out.")] = False,
) -> None:
    """Replace every word by one with a near vector; a text of n words costs n times as much as one."""
    mechanism = geo.words(vectors_from(vectors), epsilon=number(epsilon, "epsilon"))
    told = mechanism.protect(sys.stdin.read() if text == "-" else text, on_unknown="skip" if skip_unknown else "refuse")
    told = told.rstrip("\n")
    write((visible_lines(told) if sys.stdout.isatty() else told) + "\n", None)  # a pipe gets every character as it was


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None
