"""Words of labs 1 and 2: every verdict has some, none is idle, and no answer stands where a student reads it."""

import ast
import re
import tomllib
from collections.abc import Iterator, Sequence

import pytest

from sfumato.labs.filling import PLACEHOLDER
from sfumato.labs.languages import LANGUAGES
from sfumato.labs.parity import differences
from sfumato.labs.prose import Block, Part, Text
from sfumato.labs.source import Lab, load, numbers_of_labs
from sfumato.labs.verdict import CODES
from sfumato.labs.words import CONTENT, glossary

LABS = (1, 2)
# What other books say for a term of the glossary: one word for one thing.
RIVALS = {
    "en": ("neighboring", "randomized", "randomised answer", "privacy loss budget"),
    "ru": ("смежн", "усечени", "стандартное отклонение", "нарушител", "рандомизированный отклик"),
    "vi": (
        "tỷ lệ",
        "độ nhạy cảm",
        "cơ chế hàm mũ",
        "ngân quỹ",
        "hàm tiện ích",
        "hàm hữu ích",
        "láng giềng",
        "bảo mật vi phân",
    ),
    "zh": ("灵敏度", "噪音", "机率", "数据集", "截尾", "截断", "剪裁", "随机应答", "平均数", "平均值", "偏倚", "邻居"),
}
RANDOM = {1: ("t2", "t4", "t5", "t6", "t7", "t8"), 2: ("t1", "t4", "t5", "t6", "t7", "t8", "t9", "t10")}


def codes_of(lab: Lab) -> set[str]:
    """Codes that the checks of a lab can give: names of tests, keys of causes, and codes of verdicts."""
    tree = ast.parse((lab.folder / "checks.py").read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            found |= {key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called == "laws.every":
                found |= {keyword.arg for keyword in node.keywords if keyword.arg}
            if called == "Verdict" and isinstance(node.args[1], ast.Constant):
                found.add(node.args[1].value)
            if called == "judge.between" and len(node.args) > 3 and isinstance(node.args[3], ast.Constant):
                found.add(node.args[3].value)
            if called == "Verdict" and isinstance(node.args[1], ast.Name):
                found |= {"turned", "rows_differ"}  # chosen between two, by a name
    return found - {"got", "expected", "wrong", "rounds", "factor"}


@pytest.mark.parametrize("number", LABS)
def test_every_code_has_words_and_all_words_have_a_code(number: int) -> None:
    lab = load(number)
    for lang in LANGUAGES:
        own = set(lab.words(lang).messages)
        assert codes_of(lab) - set(CODES) == own, lang


@pytest.mark.parametrize("number", LABS)
def test_languages_are_in_step(number: int) -> None:
    assert differences(load(number)) == ()


@pytest.mark.parametrize("number", LABS)
def test_enough_mutants_and_named_ones_exist(number: int) -> None:
    lab = load(number)
    module = lab.module("mutants")
    for task in lab.tasks:
        assert len(module.MUTANTS[task.id]) >= (5 if task.id in RANDOM[number] else 3), task.id
    known = codes_of(lab) | set(CODES)
    for (task, name), code in module.NAMED.items():
        assert name in module.MUTANTS[task]
        assert code in known


def shown(parts: Sequence[Part], *, hidden: bool = False) -> Iterator[tuple[str, bool]]:
    for part in parts:
        if isinstance(part, Text):
            yield part.markdown, hidden
        if isinstance(part, Block):
            yield from shown(part.parts, hidden=hidden or part.kind in ("teacher", "answer"))


def test_no_student_reads_the_truth_of_lab_1() -> None:
    for lang in LANGUAGES:
        for markdown, hidden in shown(load(1).words(lang).parts):
            secrets = re.findall(r"n\.(?:share|error_\d+|people_\w+|ill_prior\w*|best_keep)\b", markdown)
            assert hidden or not secrets, secrets


@pytest.mark.parametrize("number", LABS)
def test_every_number_is_printed_somewhere(number: int) -> None:
    lab = load(number)
    written = "".join((lab.folder / name).read_text(encoding="utf-8") for name in ("en.md", "cells.py"))
    used = {name.removeprefix("n.") for name in PLACEHOLDER.findall(written) if name.startswith("n.")}
    assert used == set(lab.module("numbers").numbers(lab.variant(1)))


def test_the_glossary_has_80_terms_in_four_languages() -> None:
    terms = tomllib.loads((CONTENT / "glossary.toml").read_text(encoding="utf-8"))["term"]
    assert len(terms) == len({term["id"] for term in terms}) == 80
    scripts = {"en": r"[A-Za-z]", "ru": r"[а-яА-Я]", "vi": r"[A-Za-zÀ-ỹ]", "zh": r"[\u4e00-\u9fff]"}
    for term in terms:
        assert set(term) == {"id", *scripts}
        assert all(re.search(letters, term[lang]) for lang, letters in scripts.items()), term["id"]
        assert not re.search(r"[а-яА-Я\u4e00-\u9fff]", term["en"] + term["vi"]), term["id"]
    for lang in scripts:
        assert len({term[lang] for term in terms}) == 80, lang


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_thing_has_the_name_of_the_glossary_and_no_other(lang: str) -> None:
    folders = [load(number).folder / f"{lang}.md" for number in numbers_of_labs()]
    for path in (*folders, CONTENT / f"strings.{lang}.toml"):
        said = path.read_text(encoding="utf-8").lower()
        assert [word for word in RIVALS[lang] if word in said] == [], path
    assert not [word for word in RIVALS[lang] if word in " ".join(glossary(lang).values()).lower()]
