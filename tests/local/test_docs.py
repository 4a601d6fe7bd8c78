"""The pages about the local model run as printed, keep their numbers, and name code and tests that exist."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sfumato.local as local
from sfumato.cli.main import run

DOCS = Path(__file__).parents[2] / "docs"
PROOFS = sorted(path.stem for path in (DOCS / "proofs").glob("local-*.md"))
REFERENCE, HOW_TO, FIGURES = "reference/local.md", "how-to/collect-without-trust.md", "explanation/local-figures.md"


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def played(page: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Every block in its order, in the current folder."""
    names: dict[str, Any] = {}
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```", text(page), flags=re.MULTILINE | re.DOTALL):
        if language == "python":
            exec(compile(block, page, "exec"), names)  # noqa: S102
        elif language == "sh":
            for command in block.splitlines():
                program, *arguments = shlex.split(command)
                assert program == "sfumato"
                with pytest.raises(SystemExit) as left:
                    run(arguments)
                assert not left.value.code, capsys.readouterr().err
    return names


def test_the_reference_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = played(REFERENCE, capsys)
    page = text(REFERENCE)
    assert [name for name in local.__all__ if name not in page] == []
    assert names["protocol"].fingerprint in page
    checked = 0
    for line in page.splitlines():
        if printed := re.search(r"^(sf\.local\.\S.*?)\s{2,}# ([0-9]+\.[0-9]+)\b", line):
            digits = len(printed[2].partition(".")[2])
            assert round(eval(printed[1], names), digits) == float(printed[2]), line  # noqa: S307
            checked += 1
    assert checked >= 3


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
    names = played(HOW_TO, capsys)
    assert names["server"].users == 5001
    tea = names["server"].estimate(0.999999).rows[0]
    assert tea["low"] <= 2501 <= tea["high"]
    assert Path("counts.html").stat().st_size > 1000


def test_the_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Its numbers: ±54 with 1,000 students, and an attack that is right in 999 of 1,000 tries."""
    monkeypatch.chdir(tmp_path)
    names = played("tutorial/two-coins.md", capsys)
    assert round(1.96 * (0.75 * 1000) ** 0.5) == 54
    assert abs(names["estimate"] - 0.3) < 6 * (0.75 / 1000) ** 0.5
    assert round(1000 * stats.binom.sf(15, 31, 0.75)) == 999


def test_the_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Fresh randomness: the bounds are six deviations wide."""
    monkeypatch.chdir(tmp_path)
    names = played(FIGURES, capsys)
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


@pytest.mark.parametrize("name", PROOFS)
def test_a_proof_states_its_claim_and_names_code_and_tests_that_exist(name: str) -> None:
    page = text(f"proofs/{name}.md")
    assert "**Claim.**" in page
    assert "**Needs.**" in page
    paths = re.findall(r"`((?:src|tests)/[\w/.]+)`", page)
    assert any(path.startswith("src/") for path in paths)
    assert any(path.startswith("tests/") for path in paths)
    for path in paths:
        assert (DOCS.parent / path).exists(), path
    for target in re.findall(r"\]\(([\w-]+\.md)\)", page):
        assert (DOCS / "proofs" / target).exists(), target


def test_the_pages_docstrings_name_exist() -> None:
    named = set()
    for source in Path(local.__file__).parent.glob("*.py"):
        for page, heading in re.findall(
            r"docs/proofs/([\w-]+\.md)(?:, \"([^\"]+)\")?", source.read_text(encoding="utf-8")
        ):
            named.add(page)
            assert (DOCS / "proofs" / page).exists(), (source.name, page)
            if heading:
                plain = heading.rstrip(".")
                assert re.search(rf"^## {re.escape(plain)}$", text(f"proofs/{page}"), flags=re.MULTILINE), heading
    assert {f"{name}.md" for name in PROOFS} <= named
