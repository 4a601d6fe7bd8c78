"""The table of checks against mutants: written by a long run, committed, and stale when a check changes."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from sfumato.labs.fingerprint import hash_of
from sfumato.labs.selftest import Row
from sfumato.labs.source import Lab


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
