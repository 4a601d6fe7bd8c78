"""The page that shows how exposed the people in a table are."""

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.plots.bars import percent, shares
from sfumato.plots.page import Block, Facts, Figure, Section, Table, page
from sfumato.plots.style import FILL, RUST, figure, plain, plotly

SHOWN_SUBSETS = 15
ALARMING = 0.2


def risk_page(title: str, found: Mapping[str, Any], *, static: bool = False) -> str:
    """One HTML document from what `Risk.to_dict` gives."""
    quasi = ", ".join(found["quasi_identifiers"])
    lead: list[Block] = [
        f"{found['rows']:,} rows, seen by somebody who knows {quasi} of a person.",
        Facts(
            {
                "rows that are unique": percent(found["unique"]),
                "smallest group (k)": f"{found['k']:,}",
                **_diversity(found),
                "highest risk": percent(found["prosecutor"]["highest"]),
                "average risk": percent(found["prosecutor"]["average"]),
            }
        ),
        "A table with low risks is not differentially private: it says nothing about what the attacker knows besides.",
    ]
    sections = [
        Section("What a few columns give away", [_subsets(found["uniqueness"])]),
        Section("Every further column singles out more people", [_growing(found["growing"])]),
        Section("How large the groups are", [_sizes(found)]),
        Section("Three attackers", [_attackers(found)]),
    ]
    return page(title, sections, lead=lead, footer="Made by Sfumato.", static=static)


def _diversity(found: Mapping[str, Any]) -> dict[str, str]:
    if found["l"] is None:
        return {}
    return {"fewest sensitive values in a group (l)": str(found["l"]), "farthest group (t)": f"{found['t']:.3f}"}


def _subsets(found: Sequence[Mapping[str, Any]]) -> Figure:
    top = found[:SHOWN_SUBSETS]
    labels = [" + ".join(one["columns"]) for one in top]
    values = [one["unique"] for one in top]
    alarming = [label for label, value in zip(labels, values, strict=True) if value >= ALARMING]
    first = top[0]
    takeaway = f"{' + '.join(first['columns'])} alone make {percent(first['unique'])} of the rows unique."
    rows = [[" + ".join(one["columns"]), percent(one["unique"]), one["k"], one["groups"]] for one in found]
    return Figure(
        shares(labels, values, alarming=alarming), takeaway, Table(["columns", "unique", "k", "groups"], rows)
    )


def _growing(found: Sequence[Mapping[str, Any]]) -> Figure:
    labels = [("" if place == 0 else "+ ") + str(one["columns"][-1]) for place, one in enumerate(found)]
    values = [one["unique"] for one in found]
    alarming = [label for label, value in zip(labels, values, strict=True) if value >= ALARMING]
    rows = [[label, percent(one["unique"]), one["k"]] for label, one in zip(labels, found, strict=True)]
    takeaway = f"All {len(found)} together make {percent(values[-1])} of the rows unique."
    return Figure(shares(labels, values, alarming=alarming), takeaway, Table(["columns", "unique", "k"], rows))


def _sizes(found: Mapping[str, Any]) -> Figure:
    bins = [(1, 1), (2, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, 999), (1000, None)]
    labels, values = [], []
    for low, high in bins:
        labels.append(f"{low}" if low == high else f"{low} – {high}" if high else f"{low} or more")
        inside = (
            one["size"] * one["groups"]
            for one in found["group_sizes"]
            if one["size"] >= low and (high is None or one["size"] <= high)
        )
        values.append(sum(inside) / found["rows"])
    drawn = plotly().Bar(
        x=[plain(label) for label in labels],
        y=[100 * value for value in values],
        marker_color=[RUST if low < 5 else FILL for low, _ in bins],
        text=[percent(value) for value in values],
        textposition="outside",
        cliponaxis=False,
        hoverinfo="skip",
    )
    plot = figure(
        [drawn],
        horizontal={"type": "category", "title": {"text": "rows that share all quasi-identifiers"}},
        vertical={"title": {"text": "% of the rows"}, "rangemode": "tozero"},
    )
    small = ", ".join(f"{size:,}" for size in found["smallest_groups"])
    rows = [[label, percent(value)] for label, value in zip(labels, values, strict=True)]
    return Figure(plot, f"The smallest groups have {small} rows.", Table(["group size", "share of the rows"], rows))


def _attackers(found: Mapping[str, Any]) -> Table:
    known = (
        f"a population of {found['population']:,}" if found["population"] else "this table, for want of a larger one"
    )
    prosecutor, journalist = found["prosecutor"], found["journalist"]
    return Table(
        ["attacker", "knows", "highest risk", "average risk"],
        [
            ["prosecutor", "that the person is in the table", *_pair(prosecutor)],
            ["journalist", f"that the person is in {known}", *_pair(journalist)],
            ["marketer", "nothing; links everybody at random", "–", percent(found["marketer"])],
        ],
        caption=f"{percent(prosecutor['at_risk'])} of the rows are above the threshold for the prosecutor.",
    )


def _pair(risk: Mapping[str, float]) -> list[str]:
    return [percent(risk["highest"]), percent(risk["average"])]
