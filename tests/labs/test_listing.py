"""Code on paper is folded, and is still the same code."""

import ast
from pathlib import Path

import pytest

from sfumato.labs.build.listing import WIDTH, folded, wide
from sfumato.labs.languages import LANGUAGES
from tests.labs.editions import edition, every_lab


def meaning(code: str) -> str:
    """What Python makes of it; strings that stand alone count without their spaces."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            node.value.value = "".join(node.value.value.split())
    return ast.dump(tree)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_code_of_every_lab_fits_the_page_and_means_the_same(lang: str) -> None:
    for lab in every_lab():
        for teacher in (True, False):
            made = edition(lab, lang, teacher=teacher)
            for cell in lab.cells:
                before = made.code(cell)
                after = folded(before)
                assert meaning(after) == meaning(before), (lab.slug, cell.id)
                if cell.role in ("given", "task", "teacher"):
                    assert max(map(wide, after.split("\n"))) <= WIDTH, (lab.slug, cell.id)


def test_what_fits_stays_as_it_is() -> None:
    code = Path(__file__).read_text(encoding="utf-8").partition("\n\n\n")[0]
    assert folded(code) == code


def test_folds_docstrings_comments_and_brackets() -> None:
    words = "one two three four five six seven eight nine ten " * 2
    code = f'def f(x):\n    """{words}"""\n    return [g(x, first, second, third) for x in range(10)]  # {words}'
    assert folded(code).split("\n") == [
        "def f(x):",
        '    """one two three four five six seven eight nine ten one two three four five',
        '    six seven eight nine ten """',
        "    # one two three four five six seven eight nine ten one two three four five",
        "    # six seven eight nine ten",
        "    return [g(x, first, second, third) for x in range(10)]",
    ]
    call = "result = function(first_argument, [second * 2 for second in range(100)], third_argument, fourth)"
    assert folded(call).split("\n") == [
        "result = function(first_argument, [second * 2 for second in range(100)],",
        "    third_argument, fourth)",
    ]


def test_chinese_is_broken_beside_its_letters_and_not_before_its_marks() -> None:
    rows = folded('"""' + "在所有不超过十人、取值属于列表的数据表上，" * 4 + '"""').split("\n")
    assert len(rows) == 2
    assert all(wide(row) <= WIDTH for row in rows)
    assert rows[1][0] not in "，。、"
    rows = folded('"""' + "在" * 45 + " k，若不存在则为零" + '"""').split("\n")
    assert rows[1].startswith("k，")


def test_what_python_does_not_read_is_left_alone() -> None:
    line = "%config " + "x" * 100 + " ( 'unclosed"
    assert folded(line) == line
