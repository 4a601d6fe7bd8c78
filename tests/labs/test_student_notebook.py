"""Notebooks of students: whole, locked where they must be, with nothing of the teacher's in them."""

import json

import pytest

from sfumato.labs.build.data_files import as_csv, data_files
from sfumato.labs.build.notebook import as_json, notebook
from tests.labs.editions import edition, every_lab, sample, secrets, squeezed

EDITIONS = [(lab, lang) for lab in every_lab() for lang in lab.prose]


def _name(value: object) -> str:
    return getattr(value, "slug", str(value))


@pytest.mark.parametrize(("lab", "lang"), EDITIONS, ids=_name)
def test_nothing_of_the_teachers_is_in_it(lab, lang: str) -> None:
    seen = squeezed(as_json(notebook(edition(lab, lang))))
    hidden = list(secrets(lab, lang))
    assert len(hidden) >= 5
    assert [secret for secret in hidden if secret in seen] == []


@pytest.mark.parametrize(("lab", "lang"), EDITIONS, ids=_name)
def test_given_cells_are_locked_and_stubs_are_open(lab, lang: str) -> None:
    content = notebook(edition(lab, lang, token="ab12"))
    cells = {cell["id"]: cell for cell in content["cells"]}
    assert len(cells) == len(content["cells"]), "ids are unique"
    assert content["metadata"]["sfumato"]["token"] == "ab12"
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    for cell in lab.cells:
        if cell.role == "teacher":
            assert cell.id not in cells
            continue
        made = cells[cell.id]
        assert made["metadata"]["sfumato"] == {"id": cell.id, "role": cell.role}
        assert made["metadata"]["deletable"] is False
        assert made["metadata"].get("editable", True) == (cell.role == "task")
        assert "{{" not in made["source"].replace("{{}}", "")
        compile(made["source"], cell.id, "exec")
        if cell.role == "task":
            assert "raise NotImplementedError" in made["source"]
            for name in cell.defines:
                assert f"def {name}(" in made["source"] or f"class {name}" in made["source"]


def test_the_stub_speaks_the_language() -> None:
    for lang, stub in (("en", "# YOUR CODE"), ("ru", "# ВАШ КОД")):
        cells = {cell["id"]: cell for cell in notebook(edition(sample(), lang))["cells"]}
        lines = cells["t2"]["source"].split("\n")
        assert lines.count(f"    {stub}") == 2
        assert not any("laplace" in line or "SOLUTION" in line for line in lines)


def test_what_stands_in_it_and_what_stands_on_paper() -> None:
    student = as_json(notebook(edition(sample(), "en")))
    for said in (
        "\\\\tag{1}",
        "By (1) the noise",
        "Table 1 – Budgets",
        "Figure 2 – Answers",
        "figure 1.",
        "My prediction",
    ):
        assert said in student, said
    for said in ("Prove that", "What does $", "The report contains", ":::", "{#", "@eq", "The source divides"):
        assert said not in student, said
    teacher = as_json(notebook(edition(sample(), "en", teacher=True)))
    for said in ("secret_solution", "for_the_teacher", "> **For the teacher.** The source divides"):
        assert said in teacher, said


def test_it_is_the_same_each_time_and_another_for_another_variant() -> None:
    assert as_json(notebook(edition(sample()))) == as_json(notebook(edition(sample())))
    assert as_json(notebook(edition(sample(), variant=1))) != as_json(notebook(edition(sample(), variant=2)))
    assert json.loads(as_json(notebook(edition(sample()))))["metadata"]["sfumato"]["seed"] == 2


def test_data_files_read_back_the_same() -> None:
    import io

    import pandas as pd

    files = data_files(edition(sample(), "ru", variant=1))
    assert list(files) == ["data_for_lab90_var1.csv"]
    table = sample().module("numbers").tables(sample().variant(1), "ru")["main"]
    read = pd.read_csv(io.StringIO(files["data_for_lab90_var1.csv"]))
    assert read["value"].tolist() == table["value"].to_pylist(), "to the last bit"
    assert read["name"].tolist() == table["name"].to_pylist(), "quotes and commas too"
    assert "\r" not in files["data_for_lab90_var1.csv"]


def test_missing_values_are_empty() -> None:
    import pyarrow as pa

    assert as_csv(pa.table({"a": [1, None], "b": [0.1, 1e22]})) == "a,b\n1,0.1\n,1e+22\n"
