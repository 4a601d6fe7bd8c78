"""python -m benchmarks [topic …] [--strict]: figures in one run, as ratios to peers; `large` only if it is named."""

import sys
from collections.abc import Iterator
from importlib import import_module

from benchmarks.measure import Report
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
    "timing",
)
ON_REQUEST = ("large",)  # takes minutes and several GB of disk
OURS = ("sfumato", "benchmarks", "tests")


def main(arguments: list[str]) -> int:
    """0 if every topic ran (with --strict: and every target was reached), 1 if not, 2 for an unknown topic."""
    chosen = [name for name in arguments if not name.startswith("-")] or list(TOPICS)
    known = (*TOPICS, *ON_REQUEST)
    if unknown := [name for name in chosen if name not in known]:
        print(f"unknown topic {unknown[0]}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    reached: list[bool] = []
    stopped = [name for name in chosen if not _ran(name, reached)]
    print(f"{sum(reached)} of {len(reached)} tables reached all their targets.")
    if stopped:
        print(f"Not run to the end, because something is missing: {', '.join(stopped)}.")
    return 1 if stopped or ("--strict" in arguments and not all(reached)) else 0


def _ran(name: str, reached: list[bool]) -> bool:
    """Show the tables of a topic; where a package or a table is missing, say so and leave the rest of it out."""
    try:
        reached.extend(report.show() for report in _reports(name))  # what was shown before a stop stays
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
