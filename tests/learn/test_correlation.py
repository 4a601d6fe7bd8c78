"""Correlations and components: as NumPy has them without noise, matrices that can be, and what noise hides."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused, UsageError
from sfumato.learn.frames import scaled_of
from sfumato.learn.linear import correlation
from sfumato.learn.linear.correlation import SQUARES, _shares
from sfumato.learn.linear.moments import STEPS, Pairs
from sfumato.learn.linear.spread import Spread, correlations, directions, possible
from sfumato.learn.scaled import scaled_task
from tests.entropy import SeededEntropy
from tests.learn.people import COLUMNS, NUMBERS, learner, opened, people

ALMOST = 10**6


def together(rows: int, seed: int = 5) -> pa.Table:
    """Numbers that vary together: b follows a, c does not."""
    rng = np.random.default_rng(seed)
    a = rng.normal(0, 0.3, rows)
    b, c = 0.8 * a + rng.normal(0, 0.1, rows), rng.uniform(-0.5, 0.5, rows)
    return pa.table({"a": a.clip(-1, 1), "b": b.clip(-1, 1), "c": c})


DECLARED = {name: sf.Float(-1, 1) for name in "abc"}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sf.Session]:
    with opened(tmp_path_factory.mktemp("t"), together(4000), columns=DECLARED, epsilon=10 * ALMOST) as session:
        yield session


def test_without_noise_correlations_are_numpys(session: sf.Session) -> None:
    model = sf.learn.Correlation(spend=ALMOST).fit(session)
    exact = np.corrcoef(np.array([together(4000).column(name).to_numpy() for name in "abc"]))
    assert model.correlation_ == pytest.approx(exact, abs=0.002)
    assert model.error_.max() < 0.001
    assert model.notes_ == ()
    assert model.card_.to_dict()["learnt"][0].startswith("a, b: +0.9")


def test_noise_is_told(session: sf.Session) -> None:
    model = sf.learn.Correlation(spend=0.5).fit(session)
    exact = np.corrcoef(np.array([together(4000).column(name).to_numpy() for name in "abc"]))
    apart = ~np.eye(3, dtype=bool)
    assert (np.abs(model.correlation_ - exact)[apart] < 6 * model.error_[apart] + 0.02).all()
    assert 0.005 < model.error_[apart].mean() < 0.5
    assert np.linalg.eigvalsh(model.correlation_).min() > 0
    assert np.diagonal(model.correlation_) == pytest.approx(1)


def test_a_matrix_that_cannot_be_is_made_one_that_can() -> None:
    wrong = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    found = correlations(wrong, np.zeros(3))
    assert np.linalg.eigvalsh(found).min() > 0
    assert np.diagonal(found) == pytest.approx(1)
    assert np.array_equal(np.sign(found), np.sign(wrong))
    right = np.array([[4, 1.0], [1.0, 1]])
    assert correlations(right, np.zeros(2)) == pytest.approx(np.array([[1, 0.5], [0.5, 1]]))
    assert correlations(right, np.array([400.0, 0.0]))[0, 1] == pytest.approx(0.05), "what is lost in noise is near 0"


def test_covariances_are_where_means_let_them_be() -> None:
    """Of rows from -1 to 1 none is moved, not even where it can be no farther; others come to the nearest that can."""
    rng = np.random.default_rng(1)
    for rows in (rng.uniform(-1, 1, (50, 3)), rng.uniform(-1, -0.9, (50, 3)), rng.choice([-1.0, 1.0], (9, 3))):
        exact = np.cov(rows.T, bias=True)
        assert possible(Spread(np.array(50.0), rows.mean(axis=0), exact)) == pytest.approx(exact, abs=1e-12)
    found = Spread(np.array(50.0), np.array([-0.9, 0.8]), np.array([[0.5, 0.5], [0.5, 0.1]]))
    assert possible(found) == pytest.approx(np.array([[1 - 0.81, 0.1 * 0.2], [0.1 * 0.2, 0.1]]))


def test_what_no_rows_can_have_is_not_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two columns of which one is nearly always at its end, whatever the noise is; and it is said without that."""
    rare = np.arange(2000) % 40
    table = pa.table({"a": np.where(rare < 2, 1.0, -1.0), "b": np.where(rare > 37, 1.0, -1.0)})
    exact = np.corrcoef(table["a"].to_numpy(), table["b"].to_numpy())[0, 1]

    def told(folder: str) -> list[float]:
        (tmp_path / folder).mkdir()
        columns = {name: DECLARED[name] for name in "ab"}
        with opened(tmp_path / folder, table, columns=columns) as session:
            session._entropy = SeededEntropy(5)
            fits = [sf.learn.Correlation(spend=0.2).fit(session, fresh=True) for _ in range(20)]
        return [float(model.correlation_[0, 1]) for model in fits]

    bounded = told("bounded")
    monkeypatch.setattr(correlation, "possible", lambda found: found.covariances)
    free = told("free")
    assert min(bounded) > -0.25 > min(free)
    assert np.abs(np.array(bounded) - exact).mean() < 0.8 * np.abs(np.array(free) - exact).mean()


def test_a_column_that_is_lost_in_noise_is_said(tmp_path: Path) -> None:
    table = together(3000).append_column("d", pa.array([0.1] * 3000))
    with opened(tmp_path, table, columns=DECLARED | {"d": sf.Float(-1, 1)}) as session:
        model = sf.learn.Correlation(spend=1).fit(session)
    assert (model.error_[3, :3] == 1).all()
    assert np.abs(model.correlation_[3, :3]).max() < 0.5
    assert any("Noise rules 1 of 4 columns" in note for note in model.notes_)


def test_what_is_in_more_correlations_is_known_better(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        for currency in ("epsilon", "rho"):
            task = scaled_task(session.schema, currency, steps=STEPS, columns=NUMBERS)
            shares = _shares(Pairs(task), Fraction(1, 3))
            assert sum(shares.values()) == Fraction(1, 3)
            assert len(shares) == 15
            product = shares[1, 2]
            assert shares[3, 4] == product
            assert shares[1, 1] == SQUARES * product
            assert shares[0, 1] / product == pytest.approx(3 ** (1 / 3), abs=1 / 32), "in three correlations of six"
            assert shares[0, 0] / product == pytest.approx(6 ** (1 / 3), abs=1 / 32), "in all six"


# ---- components


def test_components_are_those_of_the_scaled_columns(session: sf.Session) -> None:
    model = sf.learn.Components(3, spend=ALMOST).fit(session)
    rows = scaled_of(together(4000), model.model_.features)
    values, vectors = np.linalg.eigh(np.cov(rows.T))
    for place in range(3):
        assert abs(model.components_[place] @ vectors[:, 2 - place]) == pytest.approx(1, abs=1e-4)
    assert model.explained_variance_ratio_ == pytest.approx(values[::-1] / values.sum(), abs=1e-3)
    places = model.transform(together(4000))
    assert places.mean(axis=0) == pytest.approx(0, abs=1e-3)
    assert np.cov(places.T) == pytest.approx(np.diag(values[::-1]), abs=1e-3)
    assert list(model.predicted(together(5))) == ["component_1", "component_2", "component_3"]


def test_the_largest_part_of_a_direction_points_up() -> None:
    turned, variances = directions(np.diag([1.0, 3.0, 2.0]), 2)
    assert turned == pytest.approx(np.array([[0, 1, 0], [0, 0, 1]]))
    assert variances == pytest.approx([3, 2])


def test_what_is_missing_counts_as_the_mean(session: sf.Session) -> None:
    model = sf.learn.Components(2, spend=ALMOST).fit(session)
    nothing = model.transform(pa.table({name: pa.array([None, np.nan], pa.float64()) for name in "abc"}))
    assert nothing == pytest.approx(np.zeros((2, 2)))


# ---- refusals, and conventions


def test_what_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        for kind in (sf.learn.Correlation, sf.learn.Components):
            for columns, told in (
                (["age", "city"], '"city" is a Category'),
                (["age"], "1 column of numbers"),
            ):
                with pytest.raises(Refused, match=told):
                    kind(spend=1, columns=columns).fit(session)
            assert "city" not in kind(spend=1).explain(session).columns
        with pytest.raises(UsageError, match="k=5 components of 4 columns"):
            sf.learn.Components(5, spend=1, columns=NUMBERS).fit(session)
        with pytest.raises(sf.errors.SfumatoError, match="k"):
            sf.learn.Components(0, spend=1).fit(session)
        assert session.history() == []
        model = learner(sf.learn.Correlation).fit(session)
    with pytest.raises(UsageError, match="no SQL"):
        model.to_sql()
    with pytest.raises(UsageError, match="nothing of single rows"):
        model.predicted(people(3))
    with pytest.raises(UsageError, match="no street to draw"):
        model.card_.figure("street")


def test_fit_of_x_needs_no_y(tmp_path: Path) -> None:
    frame = people(200).to_pandas()
    columns = {name: COLUMNS[name] for name in NUMBERS}
    model = sf.learn.Components(2, spend=1, columns=columns, ledger=tmp_path / "x.ledger")
    assert model.fit(frame[NUMBERS]).transform(frame[NUMBERS]).shape == (200, 2)
    again = sf.learn.Components(2, spend=1, columns=columns, ledger=tmp_path / "x.ledger").fit(frame[NUMBERS], None)
    assert again.model_ == model.model_
    with pytest.raises(UsageError, match=r"fit\(X\) needs the bounds"):
        sf.learn.Correlation(spend=1, ledger=tmp_path / "x.ledger").fit(frame[NUMBERS])
    assert repr(sf.learn.Components(3, spend=1)) == "Components(k=3, spend=1)"
