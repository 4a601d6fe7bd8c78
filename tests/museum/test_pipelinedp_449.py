"""PipelineDP #449, OpenDP #2051: tests that failed now and then were answered with retries and with wider bounds.

Rule: choose the rate of false alarms first, fix the seed, never run a failed test again.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Spelt in pieces, so that this file does not find itself.
AGAIN = re.compile("|".join(("fla" + "ky", "re" + "runs?\\b", "re" + "runfailures", "@re" + "try", "ten" + "acity")))


def found(pattern: re.Pattern[str], *places: Path) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in places
        for match in pattern.finditer(path.read_text(encoding="utf-8"))
    ]


def test_no_test_is_run_again_until_it_passes() -> None:
    tests = sorted((ROOT / "tests").rglob("*.py"))
    settings = [ROOT / name for name in ("pyproject.toml", "Makefile", ".ci/run", "locks/dev.lock")]
    assert len(tests) > 20
    assert found(AGAIN, *tests, *(path for path in settings if path.exists())) == []


@pytest.mark.parametrize("line", ["@pytest.mark.fla" + "ky", "pytest --re" + "runs 3", "from ten" + "acity import x"])
def test_the_search_finds_what_it_looks_for(line: str) -> None:
    assert AGAIN.search(line)
    assert not AGAIN.search("a test that fails is mended")
