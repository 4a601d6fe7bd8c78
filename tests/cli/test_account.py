"""`sfumato account` and `sfumato epsilon`: three formats, mechanisms in one call, plots, mistakes."""

import csv
import io
import json
from pathlib import Path

import pytest

from sfumato.accounting import compose
from sfumato.cli.main import run


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]):
    def call(*arguments: str, code: int = 0) -> tuple[str, str]:
        with pytest.raises(SystemExit) as left:
            run(list(arguments))
        out, err = capsys.readouterr()
        assert (left.value.code or 0) == code, err
        return out, err

    return call


def test_the_json_is_the_agreed_one(shell) -> None:
    out, _ = shell("account", "--laplace", "0.1", "--times", "100", "--delta", "1e-5", "--format", "json")
    content = json.loads(out)
    assert list(content) == ["sequential", "advanced", "thesis", "zcdp", "rdp", "pld", "optimal"]
    assert content == compose([("laplace", 0.1)] * 100).to_dict()
    assert content["sequential"] == 10.0
    assert content["pld"] == pytest.approx(4.2203, abs=1e-4)


def test_the_formula_is_refused_with_its_reason(shell) -> None:
    out, _ = shell("account", "--pure", "1", "--times", "93", "--format", "json")
    content = json.loads(out)
    assert content["thesis"] is None
    assert "8 ln(1/δ)" in content["thesis_reason"]


def test_times_belongs_to_the_mechanism_before_it(shell) -> None:
    mixed = ["--gaussian=5", "--times", "20", "--laplace", "0.1", "--geometric", "0.2", "--times=3", "--laplace", "0.1"]
    out, _ = shell("account", *mixed, "--delta=1e-6", "--format=json")
    expected = {("gaussian", 5): 20, ("laplace", 0.1): 2, ("geometric", 0.2): 3}
    assert json.loads(out) == pytest.approx(compose(expected, 1e-6).to_dict())


def test_every_mechanism_has_an_option(shell) -> None:
    options = {
        "--laplace": "1",
        "--geometric": "1",
        "--gaussian": "1",
        "--randomised-response": "1",
        "--exponential": "1",
        "--permute-and-flip": "1",
        "--pure": "1",
        "--zcdp": "0.5",
        "--approximate": "1,1e-9",
    }
    for option, value in options.items():
        content = json.loads(shell("account", option, value, "--format", "json")[0])
        assert content["pld"] > 0.9, option
    help_page = shell("account", "--help")[0]
    assert all(option in help_page for option in options)


def test_the_table(shell) -> None:
    out, _ = shell("account", "--laplace", "0.1", "--times", "100")
    assert "4.2203" in out
    assert "100 mechanisms are (4.22035, 1e-05)-DP together, by pld." in out
    assert "fixed in advance" in out
    out, _ = shell("account", "--gaussian", "5")
    assert "–" in out


def test_csv(shell, tmp_path: Path) -> None:
    out, _ = shell("account", "--gaussian", "5", "--times", "3", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["bound"] for row in rows] == ["sequential", "advanced", "thesis", "zcdp", "rdp", "pld", "optimal"]
    assert [row["epsilon"] for row in rows if row["bound"] in ("thesis", "optimal")] == ["", ""]
    shell("account", "--pure", "5", "--format", "csv", "--output", str(tmp_path / "bounds.csv"))
    assert (tmp_path / "bounds.csv").read_text(encoding="utf-8").startswith("bound,epsilon\nsequential,5.0\n")


@pytest.mark.parametrize("name", ["bounds.html", "bounds.png", "bounds.svg"])
def test_plots(shell, tmp_path: Path, name: str) -> None:
    shell("account", "--laplace", "0.5", "--times", "6", "--plot", str(tmp_path / name))
    shell("epsilon", "1", "--plot", str(tmp_path / f"belief-{name}"))
    assert (tmp_path / name).stat().st_size > 10_000
    assert (tmp_path / f"belief-{name}").stat().st_size > 10_000


def test_epsilon_in_words_and_numbers(shell) -> None:
    out, _ = shell("epsilon", "1")
    assert "factor of 2.72" in out
    assert "between 0.2689 and 0.7311" in out
    assert "right in 73.1 % of cases" in out
    assert "within ±3 in 95 % of cases; where the budget has a delta, ±9, and several times as many counts fit." in out
    content = json.loads(shell("epsilon", "1", "--prior", "0.01", "--format", "json")[0])
    assert content["posterior_high"] == pytest.approx(0.0267236, abs=1e-6)
    assert content["membership_advantage"] == pytest.approx(0.462117, abs=1e-6)
    rows = list(csv.DictReader(io.StringIO(shell("epsilon", "0.5", "--format", "csv")[0])))
    assert float(rows[0]["odds_factor"]) == pytest.approx(1.64872, abs=1e-5)


def test_several_epsilons_side_by_side(shell) -> None:
    out, _ = shell("epsilon", "0.1", "1", "3", "--prior", "0.01")
    assert "membership advantage" in out
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in out.splitlines()]
    assert ["0.1", "0.01", "0.00905699", "0.0110401", "1.10517", "0.0499584", "30", "80"] in cells
    assert len(json.loads(shell("epsilon", "0.1", "1", "--format", "json")[0])) == 2
    rows = list(csv.DictReader(io.StringIO(shell("epsilon", "0.1", "1", "--format", "csv")[0])))
    assert [float(line["epsilon"]) for line in rows] == [0.1, 1]


def test_the_formula_is_drawn_beyond_its_proof_on_request_only(shell, tmp_path: Path) -> None:
    for flags, expected in (([], False), (["--unproved"], True)):
        shell("account", "--pure", "1", "--times", "100", *flags, "--plot", str(tmp_path / "bounds.svg"))
        assert ("where it is not proved" in (tmp_path / "bounds.svg").read_text(encoding="utf-8")) is expected


@pytest.mark.parametrize(
    ("arguments", "shows"),
    [
        (["1"], ["belief before the answer", "epsilon 3"]),
        (["1", "2", "--figure", "belief"], ["belief before the answer", "epsilon 2"]),
        (["1", "--figure", "worlds", "--answer", "500"], ["with the person: the true answer is 501", "privacy loss"]),
        (["1", "--figure", "worlds", "--delta", "1e-6"], ["with the person: the true answer is 1", "delta 1e-06"]),
        (["10", "0.3", "--figure", "densities"], ["Laplace, epsilon 10", "Laplace, epsilon 0.3"]),
        (["0.1", "--figure", "densities", "--delta", "1e-5"], ["Gaussian, epsilon 0.1, delta 1e-05"]),
        (["0.1", "1.1", "--figure", "errors"], ["epsilon 0.1", "epsilon 1.1", "10,000 errors of a count"]),
        (["0.1", "--figure", "errors", "--answer", "200"], ["error in % of the answer"]),
        (["0.1", "--figure", "counts", "--counts", "7"], ["7 counts at epsilon 0.1, delta 1e-05"]),
    ],
)
def test_every_figure(shell, tmp_path: Path, arguments: list[str], shows: list[str]) -> None:
    shell("epsilon", *arguments, "--plot", str(tmp_path / "figure.svg"))
    text = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert all(words in text for words in shows)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["account", "--delta", "1e-5"], "nothing to compose"),
        (["account", "--times", "5", "--laplace", "1"], "--times stands before any mechanism"),
        (["account", "--laplace", "1", "--times", "0"], "not a whole number above 0"),
        (["account", "--laplace", "1", "--times", "2.5"], "not a whole number above 0"),
        (["account", "--laplace", "abc"], "laplace must be a number"),
        (["account", "--laplace", "-1"], "greater than 0"),
        (["account", "--laplace", "1,2"], "takes one parameter"),
        (["account", "--approximate", "1"], "takes epsilon and delta"),
        (["account", "--laplace", "1", "--delta", "0"], "between 0 and 1"),
        (["account", "--laplace", "1", "--plot", "bounds.gif"], "neither .html nor .png nor .svg"),
        (["account", "--lapplace", "1"], "lapplace"),
        (["epsilon", "1", "--figure", "worlds"], "nothing says where"),
        (["epsilon", "1", "2", "--figure", "worlds", "--plot", "x.svg"], "shows one epsilon, and 2 were given"),
        (["epsilon", "1", "--figure", "counts", "--counts", "1", "--plot", "x.svg"], "counts must"),
        (["epsilon"], "EPSILON"),
        (["epsilon", "0"], "greater than 0"),
        (["epsilon", "abc"], "epsilon must be a number"),
        (["epsilon", "1", "--prior", "2"], "prior must lie between 0 and 1"),
        (["epsilon", "1", "--plot", "belief"], "neither .html nor .png nor .svg"),
    ],
)
def test_mistakes_leave_with_code_two(shell, arguments: list[str], says: str) -> None:
    out, err = shell(*arguments, code=2)
    assert out == ""
    assert says in err


def test_errors_in_json_mode_are_json(shell) -> None:
    _, err = shell("account", "--laplace", "0", "--format", "json", code=2)
    assert json.loads(err)["error"] == "UsageError"


def test_account_alone_shows_its_help(shell) -> None:
    with_help, _ = shell("account", "--help")
    assert "--laplace" in with_help
