"""What is spelt out, by the tables of Unicode; what is not; and that nothing is lost in JSON."""

import json
import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from sfumato.visible import SHAPELESS, visible, visible_json, visible_lines

TEXTS = st.text(st.characters(codec=None), max_size=12)


def test_of_all_signs_those_without_a_shape_are_spelt_out() -> None:
    for code in range(sys.maxunicode + 1):
        sign = chr(code)
        category = unicodedata.category(sign)
        hidden = category[0] == "C" or (category[0] == "Z" and sign != " ") or SHAPELESS.match(sign) is not None
        shown = visible(sign)
        assert (shown != sign) == hidden, hex(code)
        assert shown.isprintable()
        assert not hidden or shown.encode("ascii").decode("unicode_escape") == sign


def test_known_signs() -> None:
    assert visible("a\x1b[0m\u202e\U000e0041\x00") == r"a\x1b[0m\u202e\U000e0041\x00"
    assert visible("Köln, 東京, नमस्ते, 😀 \\ 'x'") == "Köln, 東京, नमस्ते, 😀 \\ 'x'"
    assert visible("one\ntwo\r") == r"one\ntwo\r"
    assert visible_lines("one\ntwo\r") == "one\ntwo\\r"


@given(TEXTS)
def test_showing_twice_is_showing_once(text: str) -> None:
    assert visible(visible(text)) == visible(text)
    assert visible(text).isprintable()
    assert visible_lines(visible_lines(text)) == visible_lines(text)


@given(st.dictionaries(TEXTS, TEXTS | st.lists(TEXTS), max_size=3), st.sampled_from([None, 2]))
def test_json_reads_back_as_it_was(content: dict[str, object], indent: int | None) -> None:
    shown = visible_json(json.dumps(content, indent=indent, ensure_ascii=False))
    assert shown.replace("\n", "").isprintable()
    assert SHAPELESS.search(shown) is None
    assert json.loads(shown) == content
