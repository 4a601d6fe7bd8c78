"""Files of models: JSON of a closed shape. Whatever else a file holds is refused, and nothing of it runs."""

import gzip
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import DataUnreadable, UsageError
from sfumato.learn.files import file
from tests.learn.people import AdditiveOfNumber, TreeOfNumber, learner, opened

KINDS = {"additive": sf.learn.Additive, "tree": sf.learn.Tree, "number": AdditiveOfNumber, "height": TreeOfNumber}
OF_NUMBERS = {"linear": sf.learn.Linear, "correlation": sf.learn.Correlation, "components": sf.learn.Components}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    with opened(folder) as session:
        for name, kind in KINDS.items():
            learner(kind, columns=["age", "city", "since"]).fit(session).save(folder / f"{name}.json")
        for name, kind in OF_NUMBERS.items():
            learner(kind).fit(session).save(folder / f"{name}.json")
    return {name: folder / f"{name}.json" for name in KINDS | OF_NUMBERS}


def test_a_file_says_what_it_cost_and_nothing_of_rows(files: dict[str, Path]) -> None:
    said = json.loads(files["tree"].read_text())
    assert list(said) == [
        "sfumato", "learner", "version", "target", "classes", "features", "parameters", "model", "privacy", "schedule",
        "notes",
    ]  # fmt: skip
    privacy = said["privacy"]
    assert (privacy["epsilon"], privacy["delta"], privacy["relation"], privacy["unit"]) == (
        "1",
        "0.0",
        "add/remove",
        "row",
    )
    assert privacy["receipt"] > 1
    assert len(privacy["envelope"]) == 32
    assert "600" not in {str(value) for value in privacy.values()}, "the number of rows is nowhere"


def test_a_name_that_stands_twice_is_refused(files: dict[str, Path], tmp_path: Path) -> None:
    """Readers disagree which of the two counts."""
    text = files["tree"].read_text()
    (tmp_path / "twice.json").write_text(text.replace('"target"', '"target": "other",\n "target"', 1))
    with pytest.raises(DataUnreadable, match="no model"):
        sf.learn.load(tmp_path / "twice.json")


Change = Callable[[dict[str, Any]], object]


def put(*path: Any) -> Change:
    """Another value at a place of the file."""
    *before, last, value = path

    def change(said: dict[str, Any]) -> None:
        for step in before:
            said = said[step]
        said[last] = value

    return change


WRONG: dict[str, tuple[str, Change]] = {
    "another learner": ("tree", put("learner", "oracle")),
    "a learner of another kind": ("tree", put("learner", "bayes")),
    "something more": ("tree", put("code", "import os")),
    "something less": ("tree", lambda said: said.pop("notes")),
    "one class": ("tree", put("classes", ["no"])),
    "a class twice": ("tree", put("classes", ["no", "no"])),
    "mixed classes": ("tree", put("classes", ["no", 1])),
    "a class that is a list": ("tree", put("classes", [["no"], ["yes"]])),
    "no columns": ("additive", put("features", [])),
    "cuts that fall": ("tree", put("features", 0, "cells", "cuts", [3, 2])),
    "a cut that is a text": ("tree", put("features", 0, "cells", "cuts", ["3"])),
    "a kind of cells that is none": ("tree", put("features", 0, "cells", "kind", "code")),
    "values twice": ("tree", put("features", 1, "cells", "values", ["a", "a"])),
    "a value that no category has": ("tree", put("features", 1, "cells", "values", [1 << 64, 1])),
    "no values": ("tree", put("features", 1, "cells", "values", [])),
    "another column": ("tree", put("model", "trees", 0, 0, "column", 7)),
    "a column below": ("tree", put("model", "trees", 0, 0, "column", -1)),
    "cells that are not there": ("tree", put("model", "trees", 0, 0, "right", [400])),
    "no cells": ("tree", put("model", "trees", 0, 0, "right", [])),
    "a child of its own": ("tree", put("model", "trees", 0, 0, "children", [0, 1])),
    "a child that is not there": ("tree", put("model", "trees", 0, 0, "children", [1, 99])),
    "three children": ("tree", put("model", "trees", 0, 0, "children", [1, 2, 3])),
    "shares that do not add up": ("tree", put("model", "trees", 0, 0, "shares", [1, 2])),
    "negative shares": ("tree", put("model", "trees", 0, 0, "shares", [-1, 65537])),
    "no trees": ("tree", put("model", "trees", [])),
    "a tree without nodes": ("tree", put("model", "trees", [[]])),
    "a real count": ("tree", put("model", "trees", 0, 0, "counts", [1.5, 2])),
    "a flag for a number": ("tree", put("model", "trees", 0, 0, "noise", True)),
    "a huge number": ("additive", put("model", "intercept", [1 << 63])),
    "a class too many": ("additive", put("model", "intercept", [1, 2])),
    "a column too few": ("additive", put("model", "weights", [[[1]]])),
    "a cell too few": ("additive", put("model", "rows", 0, [1])),
    "weights of another size": ("additive", put("model", "weights", 0, 0, [1, 2])),
    "a number with classes": ("number", put("classes", ["no", "yes"])),
    "a number of no target": ("number", put("target", "")),
    "classes as a number": ("additive", put("model", "kind", "curves")),
    "a number of another learner": ("number", put("learner", "tree")),
    "a number without bounds": ("number", lambda said: said["model"]["target"].pop("upper")),
    "bounds that are texts": ("number", put("model", "target", "lower", "-1")),
    "bounds that fall": ("number", put("model", "target", "upper", -2)),
    "a day as a number": ("number", put("model", "target", "kind", "day")),
    "a weight too large": ("number", put("model", "sums", "intercept", [1 << 41])),
    "a cell too few of a number": ("number", put("model", "sums", "rows", 0, [1])),
    "a tree of classes as one of a number": ("tree", put("model", "kind", "heights")),
    "a tree of a number as one of classes": ("height", put("model", "kind", "trees")),
    "a height with classes": ("height", put("classes", ["no", "yes"])),
    "a height of no target": ("height", put("target", "")),
    "a height of a forest": ("height", put("learner", "forest")),
    "a height without bounds": ("height", lambda said: said["model"]["target"].pop("upper")),
    "a height in days": ("height", put("model", "target", "kind", "day")),
    "a group beyond the bounds": ("height", put("model", "groups", 0, 1 << 13)),
    "a group too many": ("height", lambda said: said["model"]["groups"].append(0)),
    "a real group": ("height", put("model", "groups", 0, 0.5)),
    "no nodes": ("height", put("model", "nodes", [])),
    "a node of other groups": ("height", put("model", "nodes", 0, "shares", [65536])),
    "another kind of model": ("additive", put("model", "kind", "pickle")),
    "another relation": ("tree", put("privacy", "relation", "replace")),
    "a price that is none": ("tree", put("privacy", "epsilon", "much")),
    "a receipt that is a text": ("tree", put("privacy", "receipt", "7")),
    "a parameter that is a list": ("tree", put("parameters", "depth", [3])),
    "a stage without its rule": ("tree", lambda said: said["schedule"][0].pop("rule")),
    "a note that is a number": ("tree", put("notes", [3])),
    "cells that are bounds": ("tree", put("features", 0, "cells", {"lower": 0, "upper": 9, "kind": "whole"})),
    "bounds that are cells": ("linear", put("features", 0, "cells", {"cuts": [1, 2], "kind": "whole"})),
    "bounds that are swapped": ("linear", put("features", 0, "cells", "lower", 9)),
    "bounds that meet": ("linear", put("features", 0, "cells", {"lower": 0, "upper": 5e-324, "kind": "real"})),
    "bounds beyond all": ("linear", put("model", "target", "upper", 1e300)),
    "an end that is a text": ("linear", put("model", "target", "upper", "9")),
    "a target that is listed": ("linear", put("model", "target", {"values": ["a", "b"]})),
    "no target": ("linear", put("target", "")),
    "classes of numbers": ("linear", put("classes", ["no", "yes"])),
    "an interval below 0": ("linear", put("model", "intercept", [1, -1])),
    "an estimate alone": ("linear", put("model", "intercept", [1])),
    "a huge slope": ("linear", put("model", "slopes", 0, 0, 0, 1 << 61)),
    "a slope too few": ("linear", put("model", "slopes", 3, [[0, 0]])),
    "a mean too many": ("linear", put("model", "means", 0, [1, 2])),
    "a mean beyond the bounds": ("linear", put("model", "means", 0, [1 << 31])),
    "rows that are real": ("linear", put("model", "rows", 1.5)),
    "a target where there is none": ("correlation", put("target", "age")),
    "listed values among numbers": ("correlation", put("features", 0, "cells", {"values": ["a", "b"]})),
    "a matrix too small": ("correlation", put("model", "matrix", [[1]])),
    "a row too short": ("correlation", put("model", "errors", 0, [1])),
    "a correlation above 1": ("correlation", put("model", "matrix", 0, 1, 1 << 40)),
    "no components": ("components", put("model", "shares", [])),
    "more components than columns": ("components", put("model", "shares", [1] * 9)),
    "components of other columns": ("components", put("model", "directions", [[1, 2], [3, 4]])),
    "a format of before": ("tree", put("sfumato", 0)),
    "a format that is a text": ("tree", put("sfumato", "1")),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_is_not_as_save_writes_it_is_refused(files: dict[str, Path], tmp_path: Path, name: str) -> None:
    which, change = WRONG[name]
    said = json.loads(files[which].read_text())
    change(said)
    (tmp_path / "wrong.json").write_text(json.dumps(said))
    with pytest.raises(DataUnreadable, match=r"wrong\.json is no model of Sfumato"):
        sf.learn.load(tmp_path / "wrong.json")


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[]", "7", '"x"', "{}", "\x80", '{"sfumato": NaN}', "[" * 10**5, '{"a":1,"a":2}'],
    ids=repr,
)
def test_what_is_no_model_at_all_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(DataUnreadable, match=r"x\.json is no model"):
        sf.learn.load(tmp_path / "x.json")


class Asking:
    """What a pickle would run."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("ran"),)


def test_a_file_that_asks_for_code_is_refused_and_nothing_runs(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = json.loads(files["tree"].read_text())
    for place, content in enumerate(
        (
            pickle.dumps(Asking()),
            gzip.compress(files["tree"].read_bytes()),
            b"__import__('pathlib').Path('ran').touch()",
            json.dumps(said | {"notes": [{"__reduce__": ["os.system", "touch ran"]}]}).encode(),
            json.dumps(said | {"learner": "sfumato.learn.trees.tree:Tree"}).encode(),
        )
    ):
        Path(f"{place}.json").write_bytes(content)
        with pytest.raises(DataUnreadable, match="is no model"):
            sf.learn.load(f"{place}.json")
    assert not Path("ran").exists()


def test_deep_and_large_and_missing_and_newer_files(files: dict[str, Path], tmp_path: Path) -> None:
    said = json.loads(files["tree"].read_text())
    leaf = {"column": -1, "right": [], "children": [], "counts": [1, 1], "noise": 1, "shares": [32768, 32768]}
    chain = []
    for level in range(40):
        chain += [{**leaf, "column": 0, "right": [1], "children": [2 * level + 1, 2 * level + 2]}, leaf]
    said["model"]["trees"] = [
        [chain[0], *(node for pair in zip(chain[1::2], chain[2::2], strict=False) for node in pair), leaf, leaf]
    ]
    (tmp_path / "deep.json").write_text(json.dumps(said))
    with pytest.raises(DataUnreadable, match="no model"):
        sf.learn.load(tmp_path / "deep.json")
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(DataUnreadable, match="larger than 10 MB"):
        sf.learn.load(tmp_path / "huge.json")
    with pytest.raises(DataUnreadable, match="there is no file"):
        sf.learn.load(tmp_path / "none.json")
    (tmp_path / "newer.json").write_text(json.dumps(json.loads(files["tree"].read_text()) | {"sfumato": 2}))
    with pytest.raises(DataUnreadable, match="a newer Sfumato"):
        sf.learn.load(tmp_path / "newer.json")
    with pytest.raises(UsageError, match="cannot be written"):
        sf.learn.load(files["tree"]).save(tmp_path / "nowhere" / "x.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(data=st.data())
def test_whatever_stands_at_any_place_it_loads_or_is_refused(
    files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(files)))
    said = json.loads(files[name].read_text())
    place: Any = said
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(JSON)
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(said))
    try:
        model = sf.learn.load(path)
    except DataUnreadable:
        return
    assert model.to_json()
    str(model.card_), model if name == "correlation" else model.to_sql()


BILLIONS = "1e999999999"  # a number that would take hours to write out


@pytest.mark.parametrize(
    "change",
    [
        put("privacy", "epsilon", BILLIONS), put("privacy", "epsilon", "1/0"), put("privacy", "epsilon", "-1"),
        put("privacy", "epsilon", "1e400"), put("privacy", "delta", "2"), put("privacy", "price", "0"),
        put("schedule", 0, "share", 10**400), put("parameters", "holdout", BILLIONS),
        put("parameters", "holdout", "1/0"),
        put("parameters", "holdout", "2/1"), put("parameters", "holdout", "some"), put("parameters", "more", 10**400),
        put("features", 2, "cells", "cuts", 0, -(10.0**9)), put("model", "weights", 0, 0, 0, 1 << 61),
        put("model", "intercept", 0, 1 << 61),
    ],
)  # fmt: skip
def test_a_number_that_nobody_can_reckon_with_is_refused_at_once(
    change: Change, files: dict[str, Path], tmp_path: Path
) -> None:
    said = json.loads(files["additive"].read_text())
    change(said)
    (tmp_path / "model.json").write_text(json.dumps(said))
    with pytest.raises(DataUnreadable):
        sf.learn.load(tmp_path / "model.json")


def test_an_endless_number_is_refused(files: dict[str, Path], tmp_path: Path) -> None:
    text = files["additive"].read_text().replace('"parameters": {', '"parameters": {"more": 1e999,')
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(DataUnreadable):
        sf.learn.load(tmp_path / "model.json")


def heap(levels: int, cells: int) -> list[dict[str, Any]]:
    """A full tree whose nodes all ask for the last of many cells."""
    leaf = {"column": -1, "right": [], "children": [], "counts": [1, 1], "noise": 1, "shares": [1 << 15, 1 << 15]}
    inner = {**leaf, "column": 0, "right": [cells]}
    many = (1 << levels) - 1
    nodes = [{**inner, "children": [2 * number + 1, 2 * number + 2]} for number in range(many)]
    return [*nodes, *[leaf] * (many + 1)]


@pytest.mark.parametrize(("levels", "cells", "fits"), [(3, 50, True), (3, 300_000, False), (12, 50, False)])
def test_a_file_of_few_megabytes_cannot_ask_for_gigabytes(
    levels: int, cells: int, fits: bool, files: dict[str, Path], tmp_path: Path
) -> None:
    said = json.loads(files["tree"].read_text())
    said["features"] = [{"name": "age", "cells": {"cuts": list(range(cells)), "kind": "whole"}}]
    said["model"] = {"kind": "trees", "trees": [heap(levels, cells)]}
    (tmp_path / "model.json").write_text(json.dumps(said))
    if fits:
        assert sf.learn.load(tmp_path / "model.json").predict([[1]]).shape == (1,)
    else:
        with pytest.raises(DataUnreadable):
            sf.learn.load(tmp_path / "model.json")


def of_many_classes(said: dict[str, Any], many: int) -> None:
    """Scores of one column of two values."""
    said["classes"] = [f"k{place}" for place in range(many)]
    said["features"] = [{"name": "city", "cells": {"values": ["a", "b"]}}]
    none = [[[0] * (many - 1)] * 3]
    said["model"] |= {"intercept": [0] * (many - 1), "weights": none, "errors": none, "rows": [[1, 1, 1]], "noise": [1]}


def test_the_sql_of_many_classes_grows_with_their_number_and_not_with_its_square(
    files: dict[str, Path], tmp_path: Path
) -> None:
    lengths = []
    for many in (500, 1000):
        said = json.loads(files["additive"].read_text())
        of_many_classes(said, many)
        (tmp_path / "model.json").write_text(json.dumps(said))
        lengths.append(len(sf.learn.load(tmp_path / "model.json").to_sql()))
    assert lengths[1] < 2.1 * lengths[0] < 10**6
    of_many_classes(said, (1 << 12) + 1)
    (tmp_path / "model.json").write_text(json.dumps(said))
    with pytest.raises(DataUnreadable):
        sf.learn.load(tmp_path / "model.json")


@pytest.mark.parametrize("levels", [4, 11])
def test_sql_that_would_be_gigabytes_is_refused_before_it_is_written(
    levels: int, files: dict[str, Path], tmp_path: Path
) -> None:
    """A long value is in every branch of a tree, and every tree once for each class."""
    said = json.loads(files["tree"].read_text())
    said["features"] = [{"name": "city", "cells": {"values": ["a" * 10**6, "b"]}}]
    many = len(said["classes"])
    said["model"] = {"kind": "trees", "trees": [heap(levels, 2)]}
    assert many == 2
    (tmp_path / "model.json").write_text(json.dumps(said))
    model = sf.learn.load(tmp_path / "model.json")
    if levels == 4:
        assert len(model.to_sql()) < 100 * 10**6
    else:
        with pytest.raises(UsageError, match="longer than 100 MB"):
            model.to_sql()


def test_what_load_would_refuse_is_not_written(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = sf.learn.load(files["tree"])
    monkeypatch.setattr(file, "MOST_MEGABYTES", 0)
    with pytest.raises(UsageError, match="would be larger than"):
        model.save(tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()


def test_half_of_a_file_is_not_spaces(files: dict[str, Path]) -> None:
    for path in files.values():
        text = path.read_text()
        assert len(text) < 1.05 * len(json.dumps(json.loads(text), separators=(",", ":"))) + 100
