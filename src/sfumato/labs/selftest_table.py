"""The table of checks against mutants: written by a long run, committed, and stale when a check changes."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

from sfumato.labs.fingerprint import hash_of
from sfumato.labs.selftest import Row, selftest
from sfumato.labs.source import Lab

SEEDS_AT_ONCE = 5


def long_run(
    lab: Lab, folder: Path, *, seeds: int, mutant_seeds: int, workers: int, report: Callable[[float], None]
) -> list[Row]:
    """Every answer on so many seeds, and the table of it. What was broken off goes on after the last seeds written."""
    path, rows, done = folder / f"{lab.slug}.json", list[Row](), 0
    if path.exists():
        about, found = read_table(path)
        if about["checks"] == hash_of(lab) and about["mutant_seeds"] == mutant_seeds:
            rows, done = found, int(str(about["seeds"]))
    while done < seeds:
        last = min(seeds, done + SEEDS_AT_ONCE)
        share = (last - done) / seeds
        new = selftest(
            lab,
            last,
            first=done + 1,
            mutant_seeds=mutant_seeds,
            workers=workers,
            report=lambda part, before=done, share=share: report(before / seeds + share * part),  # type: ignore[misc]
        )
        rows, done = added(rows, new), last
        write_table(lab, rows, folder, seeds=done, mutant_seeds=mutant_seeds)
    return rows


def added(rows: Sequence[Row], more: Sequence[Row]) -> list[Row]:
    """What was seen in two runs of the same answers."""
    before = {(row.task, row.kind, row.name): row for row in rows}
    return [
        row
        if (old := before.get((row.task, row.kind, row.name))) is None
        else replace(row, runs=row.runs + old.runs, passed=row.passed + old.passed, named=row.named + old.named)
        for row in more
    ]


def write_table(lab: Lab, rows: Sequence[Row], folder: Path, *, seeds: int, mutant_seeds: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "lab": lab.slug,
        "checks": hash_of(lab),
        "date": datetime.now(UTC).date().isoformat(),
        "seeds": seeds,
        "mutant_seeds": mutant_seeds,
        "variants": sorted(lab.variants),
    }
    lines = ",\n  ".join(json.dumps(asdict(row), ensure_ascii=False) for row in sorted(rows, key=_order))
    head = json.dumps(about, indent=1)[:-2]
    path = folder / f"{lab.slug}.json"
    path.write_text(f'{head},\n "rows": [\n  {lines}\n ]\n}}\n', encoding="utf-8")
    return path


def _order(row: Row) -> tuple[int, str, str, str]:
    digits = "".join(sign for sign in row.task if sign.isdigit())
    return int(digits or 0), row.task, row.kind, row.name


def read_table(path: Path) -> tuple[dict[str, object], list[Row]]:
    content = json.loads(path.read_text(encoding="utf-8"))
    return {key: value for key, value in content.items() if key != "rows"}, [Row(**row) for row in content["rows"]]
