"""students.csv as teachers have it, and what is said when it cannot be used."""

import os
import re
import stat
import unicodedata

import pytest

from sfumato.errors import DataUnreadable, SfumatoError, UsageError
from sfumato.labs.course import new_course, open_course
from sfumato.labs.students import read_students
from tests.labs.small import course_of, small

PLAIN = "id,name,lang,group\ns01,Ann Lee,en,A\ns02,Борис Ёлкин,ru,B\n"


def written(folder, content):
    path = folder / "students.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace("\n", "\r\n"),
        "\ufeff" + PLAIN,
        PLAIN.encode("utf-16"),
        PLAIN.replace("id,name,lang,group", "ID,ФИО,Язык,Группа"),
        "\n" + PLAIN + "\n,,,\n",
    ],
)
def test_common_forms_are_read(tmp_path, content):
    students = read_students(written(tmp_path, content), "en").students
    assert [(one.id, one.name, one.lang, one.group) for one in students] == [
        ("s01", "Ann Lee", "en", "A"),
        ("s02", "Борис Ёлкин", "ru", "B"),
    ]


CYRILLIC = "id;ФИО;Группа\ns01;Борис Ёлкин;ИБ-21\ns02;Анна-Мария Ли;ИБ-21\n"
CHINESE = "学号,姓名,班级\ns01,李安,信安1班\ns02,欧阳娜,信安1班\n"
VIETNAMESE = "mã,họ tên\ns01,Trần Thị Ánh\ns02,Đỗ Ưu\ns03,Nguyễn Văn Ý\n"
WESTERN = "id,name\ns01,Zoë Müller\ns02,Ó Briain\ns03,JOSÉ Ann\n"


def saved(content, encoding):
    """As an old program saved it; windows-1258 has tones as letters of their own."""
    if encoding != "cp1258":
        return content.encode(encoding)
    tones = {"\u0300", "\u0301", "\u0303", "\u0309", "\u0323"}
    apart = unicodedata.normalize("NFD", content)
    kept = re.split("([\u0300\u0301\u0303\u0309\u0323])", apart)
    return "".join(one if one in tones else unicodedata.normalize("NFC", one) for one in kept).encode("cp1258")


@pytest.mark.parametrize(
    ("content", "encoding", "lang", "name", "said"),
    [
        (PLAIN, "cp1251", "en", "Ann Lee", "windows-1251"),
        (CYRILLIC, "cp1251", "ru", "Борис Ёлкин", "windows-1251"),
        (CYRILLIC, "cp1251", "zh", "Борис Ёлкин", "windows-1251"),
        (CYRILLIC.replace("Ёлкин", "МакДуг"), "cp1251", "ru", "Борис МакДуг", "windows-1251"),
        (CHINESE, "gb18030", "zh", "李安", "GB18030"),
        (CHINESE.replace("李安", "㐂\U00020000"), "gb18030", "zh", "㐂\U00020000", "GB18030"),
        (VIETNAMESE, "cp1258", "vi", "Trần Thị Ánh", "windows-1258"),
        (WESTERN, "cp1252", "en", "Zoë Müller", "windows-1252"),
    ],
)
def test_an_old_encoding_is_guessed_and_said(tmp_path, content, encoding, lang, name, said):
    register = read_students(written(tmp_path, saved(content, encoding)), lang)
    assert register.students[0].name == name
    assert register.guessed == said


@pytest.mark.parametrize(
    ("content", "encoding", "lang"),
    [
        (CHINESE, "gb18030", "en"),
        (CHINESE.replace("学号,姓名,班级", "id,name,group"), "gb18030", "en"),
        (CHINESE, "gb18030", "ru"),
        (CHINESE, "gb18030", "vi"),
        (VIETNAMESE, "cp1258", "en"),
        (VIETNAMESE, "cp1258", "ru"),
        (VIETNAMESE, "cp1258", "zh"),
        (WESTERN, "cp1252", "zh"),
        (WESTERN, "cp1252", "ru"),
        (CYRILLIC, "cp866", "ru"),
        (CYRILLIC, "koi8-r", "vi"),
    ],
)
def test_what_no_guess_makes_words_of_is_refused_and_nothing_is_written(tmp_path, content, encoding, lang):
    path = written(tmp_path, saved(content, encoding))
    with pytest.raises(DataUnreadable, match=f"it is not UTF-8, and no older encoding of the language {lang} makes"):
        new_course(path, tmp_path / "course", lang=lang)
    assert not (tmp_path / "course").exists()


def test_a_text_that_breaks_its_own_mark_is_refused(tmp_path):
    for broken in (PLAIN.encode("utf-16") + b"x", b"\xef\xbb\xbfid,name\ns1,\xc0\n"):
        with pytest.raises(DataUnreadable, match="not UTF-8"):
            read_students(written(tmp_path, broken), "en")


def test_lang_and_group_may_be_left_out(tmp_path):
    [one] = read_students(written(tmp_path, "id,name\n7,Ann\n"), "ru").students
    assert (one.lang, one.group) == ("ru", "")


WRONG = {
    "duplicates": ("id,name\ns1,A\nS1,B\n", 'line 3: the id "S1" stands in line 2 too'),
    "missing column": ("number_of,name\ns1,A\n", "has no column id"),
    "a near name": ("idd,name\ns1,A\n", 'Did you mean "idd"'),
    "no header": ("s1,A\ns2,B\n", "has no column id, name"),
    "formula": ('id,name\ns1,"=HYPERLINK(""x"")"\n', "a spreadsheet takes for a formula"),
    "formula in the id": ("id,name\n+s1,A\n", "a spreadsheet takes for a formula"),
    "folder as id": ("id,name\n../../x,A\n", "it names files"),
    "device as id": ("id,name\nNUL,A\n", "it names files"),
    "empty id": ("id,name\n,A\n", "the id is empty"),
    "empty name": ("id,name\ns1,\n", "the name is empty"),
    "short line": ("id,name\ns1\n", "the name is empty"),
    "language": ("id,name,lang\ns1,A,rus\n", 'no language "rus" Did you mean "ru"?'),
    "hidden signs": ("id,name\ns1,A\u202eB\n", "cannot be seen"),
    "nobody": ("id,name\n", "names no student"),
    "empty": ("", "names no student"),
    "a workbook": (b"PK\x03\x04rest", "a workbook or an archive"),
    "no text": (b"\x00\x01\x02", "no text"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_and_nothing_is_written(tmp_path, name):
    content, words = WRONG[name]
    path = written(tmp_path, content)
    with pytest.raises(SfumatoError) as caught:
        new_course(path, tmp_path / "course")
    assert words in str(caught.value)
    assert not (tmp_path / "course").exists()


def test_all_mistakes_are_said_at_once(tmp_path):
    with pytest.raises(UsageError, match=r"line 2: .*line 3: .*line 4: "):
        read_students(written(tmp_path, "id,name\n,A\ns1,\n=x,B\n"), "en")


def test_a_missing_file_and_a_folder_are_said(tmp_path):
    with pytest.raises(DataUnreadable, match="no such file"):
        read_students(tmp_path / "none.csv", "en")
    with pytest.raises(DataUnreadable, match="folder"):
        read_students(tmp_path, "en")


def test_a_course_is_never_overwritten(tmp_path):
    course = course_of(tmp_path)
    with pytest.raises(UsageError, match="nothing was overwritten"):
        new_course(tmp_path / "students.csv", course.folder)
    assert open_course(course.folder) == course


def test_the_secret_is_the_teachers(tmp_path):
    course = course_of(tmp_path)
    mode = stat.S_IMODE(os.stat(course.folder / "secret.key").st_mode)
    assert mode == 0o600
    assert course.secret.hex() not in (course.folder / "course.json").read_text()


def test_variant_seed_and_token_are_the_students_own(tmp_path):
    (tmp_path / "other").mkdir()
    course, other, lab = course_of(tmp_path, 30), course_of(tmp_path / "other", 30), small()
    variants = [course.variant(one, lab) for one in course.students]
    assert len({one.seed for one in variants}) == 30
    assert len({one.number for one in variants}) > 3
    tokens = {course.token(one, lab) for one in course.students}
    assert len(tokens) == 30
    assert tokens.isdisjoint({other.token(one, lab) for one in other.students})
    assert [open_course(course.folder).variant(one, lab) for one in course.students] == variants
    assert course.owner(course.token(course.students[4], lab), lab) == course.students[4]
    assert course.owner("nobody's", lab) is None


@pytest.mark.parametrize("damage", ["{", '{"course": 1}', "[]"])
def test_a_damaged_course_is_said(tmp_path, damage):
    course = course_of(tmp_path)
    (course.folder / "course.json").write_text(damage)
    with pytest.raises(DataUnreadable, match="damaged"):
        open_course(course.folder)
    with pytest.raises(UsageError, match="is no course"):
        open_course(tmp_path / "nowhere")
