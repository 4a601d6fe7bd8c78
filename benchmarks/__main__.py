"""python -m benchmarks [topic …] [--strict]: figures in one run, as ratios to peers; some only if they are named.

python -m benchmarks --against REV [topic …]: this tree against another revision, without peers.
"""

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module

from benchmarks.against import compare
from benchmarks.measure import Report, show_missed
from benchmarks.revisions import RevisionUnknown
from sfumato.errors import did_you_mean
from tests.tables import TableMissing

TOPICS = (
    "noise",
    "accounting",
    "latency",
    "engine",
    "answers",
    "anonymise",
    "attacks",
    "geo",
    "local",
    "bounds",
    "bars",
    "learn",
    "real",
    "timing",
)
# Minutes each: learners fitted hundreds of times (learn_synthetic asks for .venv/.synthesisers as well), several GB of
# disk, laboratories (which need what locks/labs.lock names).
ON_REQUEST = ("learn_numbers", "learn_clusters", "learn_synthetic", "large", "labs")
# Those say nothing about speed, or take too long for rounds.
ALONE = ("bars", "real", "timing", *ON_REQUEST)
OURS = ("sfumato", "benchmarks", "tests")


def main(arguments: list[str]) -> int:
    """0 if every topic ran (with --strict: and every target was reached), 1 if not, 2 for an unknown topic.

    With --against: 1 if something is worse than in the other revision.
    """
    asked = _parser().parse_args(arguments)
    known = (*TOPICS, *ON_REQUEST)
    if asked.against is not None:
        known = tuple(name for name in known if name not in ALONE)
    if unknown := [name for name in asked.topics if name not in known]:
        near = did_you_mean(unknown[0], known)
        print(f"unknown topic {unknown[0]}.{near} There are {', '.join(known)}.", file=sys.stderr)
        return 2
    chosen = asked.topics or [name for name in known if name not in ON_REQUEST]
    if asked.against is None:
        return _against_peers(chosen, strict=asked.strict)
    try:
        return compare(asked.against, chosen, as_json=asked.format == "json")
    except RevisionUnknown as unknown_revision:
        print(unknown_revision, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Figures with their targets, in one run.")
    parser.add_argument("topics", nargs="*", metavar="topic", help=f"one of {', '.join((*TOPICS, *ON_REQUEST))}")
    parser.add_argument("--strict", action="store_true", help="a missed target is an error")
    parser.add_argument("--against", metavar="REV", help="compare with another revision, own work only")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="how --against prints")
    return parser


def _against_peers(chosen: list[str], *, strict: bool) -> int:
    reports: list[tuple[str, Report]] = []
    stopped = [name for name in chosen if not _ran(name, reports)]
    missed = [(name, report) for name, report in reports if report.missed]
    print(f"{len(reports) - len(missed)} of {len(reports)} tables reached all their targets.")
    show_missed(missed)
    if stopped:
        print(f"Not run to the end, because something is missing: {', '.join(stopped)}.")
    return 1 if stopped or (strict and missed) else 0


def _ran(name: str, reports: list[tuple[str, Report]]) -> bool:
    """Show the tables of a topic; where a package or a table is missing, say so and leave the rest of it out."""
    try:
        for report in _reports(name):
            report.show()
            reports.append((name, report))  # what was shown before a stop stays
    except TableMissing as missing:
        print(f"{name} stops here. {missing}", file=sys.stderr)
        return False
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package in OURS:
            raise
        print(f"{name} stops here. It needs the package {package}, which make bench installs.", file=sys.stderr)
        return False
    return True


def _reports(name: str) -> Iterator[Report]:
    yield from import_module(f"benchmarks.{name}").run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
