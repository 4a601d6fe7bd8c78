"""What the tests of several labs' content share: the lab, its numbers, and the codes its judges give."""

import ast

from sfumato.labs.source import Lab, load
from sfumato.labs.verdict import CODES

# Keys of dictionaries in checks.py that are no codes: names of utilities, relations, values of verdicts.
NO_CODES = {"count", "ratio", "hundredth", "square", "add", "replace", "got", "expected", "largest", "eps"}


def numbers_of(number: int):
    return load(number).module("numbers")


def codes(lab: Lab) -> set[str]:
    """Codes that the judges of a lab can give: keys of causes, names of laws, codes of verdicts."""
    tree = ast.parse((lab.folder / "checks.py").read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            found |= {key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.ctx, ast.Store):
            found.add(node.slice.value)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"named_law", "Verdict"}:
            found |= {one.arg for one in node.keywords if one.arg}
            second = [one.value for one in node.args[1:2] if isinstance(one, ast.Constant)]
            found |= {value for value in second if isinstance(value, str)}
    return found - NO_CODES


def unworded(lab: Lab, lang: str) -> set[str]:
    """Codes without words in a language."""
    return codes(lab) - set(CODES) - set(lab.words(lang).messages)


def unused(lab: Lab, lang: str) -> set[str]:
    """Words of codes that no judge gives."""
    return set(lab.words(lang).messages) - codes(lab)
