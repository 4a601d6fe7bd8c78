"""The gallery: every picture is made by the code beside it, in Python and in the shell, and is the one committed."""

import re
import shlex
from base64 import b64decode
from math import erfc, exp, log, pi, sqrt
from pathlib import Path
from xml.etree import ElementTree

import pytest
from docs.gallery import IMAGES, PAGE, Part, draw, parts

from sfumato.accounting import (
    compose,
    deviations,
    draw_caps,
    draw_clipping,
    draw_keys,
    draw_quantiles,
    draw_worlds,
    posterior,
)
from sfumato.cli.main import run
from tests.marks import one_in

PARTS = list(parts())
FRESH = {"errors.svg"}  # new every time: the same words around other bars
CLOSE = 0.05  # points on the page


def tokens(svg: str) -> tuple[list[str], list[float]]:
    """What a picture consists of: its words and commands, and its numbers. Ids are hashes of numbers, and left out."""
    text = re.sub(r'\bid="[^"]*"|#[mpC][0-9a-f_]{10,}', "", svg)
    return re.split(r"-?\d+(?:\.\d+)?", text), [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]


def same(one: str, two: str) -> bool:
    """Whether two pictures look the same: another processor may round the last digit differently."""
    (words, numbers), (others, figures) = tokens(one), tokens(two)
    return words == others and all(abs(a - b) <= CLOSE for a, b in zip(numbers, figures, strict=True))


def texts(svg: str) -> list[str]:
    return [element.text for element in ElementTree.fromstring(svg).iter() if element.text and element.text.strip()]  # noqa: S314


def check(made: Path) -> None:
    new, committed = made.read_text(encoding="utf-8"), (IMAGES / made.name).read_text(encoding="utf-8")
    if made.name in FRESH:
        assert texts(new) == texts(committed)
        assert not same(new, committed)
    else:
        assert same(new, committed), f"{made.name} has changed: run python -m docs.gallery, and look at it"


def test_the_python_of_the_page_makes_its_pictures(tmp_path: Path) -> None:
    made = draw(tmp_path)
    assert sorted(made) == sorted(tmp_path.iterdir())
    for picture in made:
        check(picture)


@pytest.mark.parametrize("part", one_in(2, PARTS), ids=lambda part: part.picture)
def test_the_command_makes_the_same_picture(
    part: Part, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(part.shell)
    assert program == "sfumato"
    with part.lent(), pytest.raises(SystemExit) as left:
        run(arguments)
    assert not left.value.code, capsys.readouterr().err
    made = sorted(tmp_path.iterdir())
    if page := [path for path in made if path.suffix == ".html"]:
        made = [pictures_of(page.pop(), tmp_path / part.picture)]
    assert made == [tmp_path / part.picture]
    check(made[0])


def pictures_of(page: Path, wanted: Path) -> Path:
    """Of the pictures on a page the one that looks like the committed one, in a file of this name."""
    committed = (IMAGES / wanted.name).read_text(encoding="utf-8")
    found = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page.read_text(encoding="utf-8"))
    [picture] = [one for one in (b64decode(each).decode() for each in found) if texts(one) == texts(committed)]
    wanted.write_text(picture, encoding="utf-8")
    return wanted


def test_no_picture_is_left_over_and_all_are_small() -> None:
    assert sorted(path.name for path in IMAGES.iterdir()) == sorted(part.picture for part in PARTS)
    assert len(PARTS) == len({part.picture for part in PARTS}) == 15
    assert all(path.stat().st_size < 100_000 for path in IMAGES.iterdir())


def test_a_changed_picture_is_seen() -> None:
    picture = (IMAGES / "counts.svg").read_text(encoding="utf-8")
    assert same(picture, picture)
    assert not same(picture, picture.replace("Laplace", "Laplacian"))
    moved = re.sub(r"L (\d+)\.", lambda found: f"L {int(found[1]) + 1}.", picture, count=1)
    assert not same(picture, moved)
    assert same(picture, picture.replace(' id="', ' id="other'))


def test_the_numbers_of_the_page() -> None:
    """Each is worked out here from formulas or by the accountant, and must stand in the text."""
    page = " ".join(PAGE.read_text(encoding="utf-8").split())

    def advanced(k: int, epsilon: float) -> float:
        return epsilon * sqrt(2 * k * log(1e5)) + k * epsilon * (exp(epsilon) - 1)

    wins = [next(k for k in range(1, 500) if advanced(k, epsilon) < k * epsilon) for epsilon in (0.1, 0.5)]
    assert f"`advanced` wins from k = {wins[0]} on (at ε = 0.5 from {wins[1]} on)" in page
    assert not any(advanced(k, log(2)) < k * log(2) for k in range(1, 5000))
    assert f"k = 8 ln(1/δ) = {8 * log(1e5):.1f}" in page
    large, small = compose({("laplace", 1): 200}), compose({("laplace", 0.1): 200})
    assert f"cost {large.pld:.1f} at δ = 10⁻⁵" in page
    assert f"{large.optimal:.1f} by the exact bound" in page
    assert f"{large.zcdp:.1f} by zCDP" in page
    assert f"cost {small.epsilon:.1f} instead of 20" in page
    assert 2 * sqrt(2 * 92 * log(1e5)) == pytest.approx(compose({("pure", 1): 92}).thesis)
    assert compose({("pure", 1): 93}).thesis is None
    assert compose({("pure", 0.1): 93}).thesis < 9.3
    false = [2 * sqrt(2 * k * log(1e5)) < compose({("pure", 1): k}).optimal for k in (175, 176)]
    assert false == [False, True]
    assert "From k = 176 on" in page
    low, high = posterior(0.5, 1)
    assert f"between {low:.0%} and {high:.0%}".replace("%", " %") in page
    assert "probability 0.00016" in page
    assert "probability 0.00016" in draw_worlds(1, 1e-5, answer=500).panels[1].takeaway


def test_the_crossings_of_twenty_doctors() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    noise = {k: deviations(k, 0.1) for k in range(1, 21)}
    laplace, gauss = 1 / sqrt(2), sqrt(2 / pi)  # mean error over deviation

    def first(name: str, ours: float, theirs: float) -> int:
        return next(k for k, each in noise.items() if getattr(each, name) * ours < each.laplace * theirs)

    classical, exact = ([first(name, 1, 1), first(name, gauss, laplace)] for name in ("classical", "analytic"))
    assert f"from {classical[0]} counts on, by mean error from {classical[1]} on" in page
    assert f"exact Gaussian noise from {exact[0]} and {exact[1]} on" in page
    assert f"= {sqrt(2 * log(1.25e5)):.2f}" in page
    assert f"at least {sqrt(2 * log(1.25e5)) * gauss / sqrt(3):.2f} Δ₁/ε" in page
    last = noise[20]
    assert f"deviation {last.laplace:.1f}, or Gaussian noise of {last.analytic:.1f}" in page
    assert f"would take {last.classical:.1f}" in page


def test_the_numbers_of_what_owners_choose() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    (noise, _, both), (best,) = draw_clipping(0.1).panels[0].lines, draw_clipping(0.1).panels[0].marks
    beyond = {bound: erfc(log(bound / 30_000) / 0.8 / sqrt(2)) / 2 for bound in (best.x, 300_000)}
    assert f"with a bound of {best.x:,.0f}, which {100 * beyond[best.x]:.1f} % of the people" in page
    assert f"it is then {100 * best.y:.0f} % off" in page
    assert f"A bound of {noise.x[-1]:,.0f}, which {100 * beyond[300_000]:.1f} % of them exceed" in page
    assert f"{both.y[-1] / best.y:.1f} times as wrong" in page
    (noise, lost, _), (best,) = draw_caps(0.1).panels[0].lines, draw_caps(0.1).panels[0].marks
    assert f"the noise is ±{noise.y[0]:,.0f} and {lost.y[0]:,.0f} visits are missing" in page
    assert f"with {noise.x[-1]} it is ±{noise.y[-1]:,.0f}" in page
    assert f"nearest with {best.x} visits a person: {best.y:,.0f} off" in page
    one, two, five = (mark.x for mark in draw_keys(0.5, 1e-6).panels[0].marks)
    assert f"{one} people if everybody holds one value, {two} if up to two, {five} if up to five" in page
    told = draw_quantiles(0.1).panels[0].takeaway
    spoken = page.replace("The median is", "the median")
    said = re.findall(r"the (?:median|90 % quantile) between [^)]*\)", spoken)
    assert len(said) == 2
    assert all(one.replace("between ", "").replace(" and ", " to ") in told for one in said)
    assert page.count("**A common mistake:**") == 11
