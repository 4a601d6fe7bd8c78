"""The pages about the local model run as printed, keep their numbers, and name code and tests that exist."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import sfumato.local as local
from tests.pages import DOCS, check_numbers, missing, play, text

REFERENCE, HOW_TO, FIGURES = "reference/local.md", "how-to/collect-without-trust.md", "explanation/local-figures.md"


def test_the_reference_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = play(REFERENCE, capsys).names
    page = text(REFERENCE)
    assert missing(REFERENCE, local.__all__) == []
    assert names["protocol"].fingerprint in page
    assert check_numbers(REFERENCE, r"sf\.local\.\S", names) >= 3


def test_the_table_of_variances() -> None:
    for name, size, shown in (
        ("rr", 2, "0.92"),
        ("grr", 3, "1.3"),
        ("grr", 16, "5.7"),
        ("grr", 128, "44"),
        ("sue", 16, "3.92"),
        ("oue", 16, "3.68"),
        ("olh", 16, "3.69"),
        ("hadamard", 16, "4.68"),
        ("subset", 16, "3.11"),
        ("subset", 128, "3.61"),
    ):
        found = {one["protocol"]: one["variance"] for one in local.compare(size, 1)}
        digits = len(shown.partition(".")[2])
        assert round(found["grr" if name == "rr" else name], digits) == float(shown)
        assert re.search(rf'^\| `"{name}"` .*\b{re.escape(shown)}\b', text(REFERENCE), flags=re.MULTILINE), (
            name,
            shown,
        )


def test_the_how_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    names = play(HOW_TO, capsys).names
    assert names["server"].users == 5001
    tea = names["server"].estimate(0.999999).rows[0]
    assert tea["low"] <= 2501 <= tea["high"]
    assert Path("counts.html").stat().st_size > 1000


def test_the_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Its numbers: ±54 with 1,000 students, and an attack that is right in 999 of 1,000 tries."""
    monkeypatch.chdir(tmp_path)
    names = play("tutorial/two-coins.md", capsys).names
    assert round(1.96 * (0.75 * 1000) ** 0.5) == 54
    assert abs(names["estimate"] - 0.3) < 6 * (0.75 / 1000) ** 0.5
    assert round(1000 * stats.binom.sf(15, 31, 0.75)) == 999


def test_the_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Fresh randomness: the bounds are six deviations wide."""
    monkeypatch.chdir(tmp_path)
    names = play(FIGURES, capsys).names
    for rows, (right, wrong) in names["table"].items():
        theory = names["theory"][rows]
        assert abs(right - theory) < 6 * theory * 0.76 / names["ROUNDS"] ** 0.5
        assert f"| {100 * theory:.1f} % |" in text(FIGURES)
        assert abs(wrong - max(1 - rows / 32_219, theory)) < 0.05
    expected = {
        "central Laplace": 2**0.5 * 27 / 30_000,
        "one substance per person": 0.029,
        "all, response with 1/27": 0.156,
        "all, Laplace of scale 27": (2 * 27**2 / 30_000) ** 0.5,
    }
    for name, found in names["error"].items():
        assert 0.3 * expected[name] < found < 2.2 * expected[name], name
    assert (names["error"]["all, Laplace of scale 27"] / names["error"]["one substance per person"]) ** 2 > 8
    for picture in ("response-error.svg", "substances.svg"):
        assert "<svg" in Path(picture).read_text()
        assert (DOCS / "images/local" / picture).exists()
        assert f"../images/local/{picture}" in text(FIGURES)
    assert np.isfinite(names["truth"]).all()
