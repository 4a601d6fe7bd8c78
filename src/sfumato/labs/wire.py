"""Values of a student's functions as JSON and back: numbers, texts, lists, dictionaries and arrays, nothing that runs.

The grader's parent reads what a hostile child wrote, so `unpacked` builds plain values only and gives up on everything
else. The notebook sends its values the same way, so that what passes at home passes at the teacher's.
"""

import base64
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.labs.verdict import StudentError

_KINDS = {"b": "bool", "i": "int64", "u": "int64", "f": "float64"}
_DEPTH = 12
_DIGITS = 400


def packed(value: Any, depth: int = 0) -> Any:
    """A value as JSON can write it. What cannot be written is a wrong type, said with the type's name."""
    if depth > _DEPTH:
        raise StudentError("wrong_type", {"got": "nested", "expected": "list"})
    match value:
        case None | bool() | str():
            return value
        case int():
            return _whole(value)
        case float():
            return float(value)
        case np.generic():
            return packed(value.item(), depth)
        case list():
            return [packed(one, depth + 1) for one in value]
        case tuple():
            return {"tuple": [packed(one, depth + 1) for one in value]}
        case Mapping():
            return {"dict": [[packed(key, depth + 1), packed(one, depth + 1)] for key, one in value.items()]}
        case np.ndarray():
            return _packed_array(value, depth)
    return _foreign(value, depth)


def _foreign(value: Any, depth: int) -> Any:
    name = type(value).__name__
    if name in {"Series", "Index", "RangeIndex"} and hasattr(value, "to_numpy"):
        return packed(value.to_numpy(), depth)
    if name in {"dict_values", "dict_keys", "range", "map", "zip", "filter"}:
        return packed(list(value), depth)
    raise StudentError("wrong_type", {"got": name, "expected": "float"})


def _whole(value: int) -> int:
    if abs(value) >= 10**_DIGITS:
        raise StudentError("wrong_number", {"got": f"10^{int(math.log10(abs(value)))}"})
    return int(value)


def _packed_array(value: np.ndarray[Any, Any], depth: int) -> Any:
    kind = _KINDS.get(value.dtype.kind)
    if kind is None:
        return {"array": packed(value.tolist(), depth + 1)}
    plain = np.ascontiguousarray(value, dtype=kind)
    return {"shape": list(value.shape), "kind": kind, "bytes": base64.b64encode(plain.tobytes()).decode("ascii")}


def unpacked(value: Any, depth: int = 0) -> Any:
    """What `packed` wrote. Anything else is a wrong type: the writer may be hostile."""
    if depth > 3 * _DEPTH:
        raise StudentError("unsafe_answer")
    match value:
        case None | bool() | str() | int() | float():
            return value
        case list():
            return [unpacked(one, depth + 1) for one in value]
        case {"tuple": list(items)} if len(value) == 1:
            return tuple(unpacked(one, depth + 1) for one in items)
        case {"dict": list(pairs)} if len(value) == 1:
            return _unpacked_dict(pairs, depth)
        case {"array": items} if len(value) == 1:
            return _array(unpacked(items, depth + 1))
        case {"shape": list(shape), "kind": str(kind), "bytes": str(text)} if len(value) == 3:
            return _unpacked_array(shape, kind, text)
    raise StudentError("unsafe_answer")


def _array(items: Any) -> np.ndarray[Any, Any]:
    try:
        array = np.asarray(items)
    except ValueError as error:
        raise StudentError("wrong_shape", {"got": "?", "expected": "?"}) from error
    if array.dtype.kind not in "biufU":
        raise StudentError("wrong_type", {"got": "object array", "expected": "array"})
    return array


def _unpacked_dict(pairs: list[Any], depth: int) -> dict[Any, Any]:
    made = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise StudentError("unsafe_answer")
        key = unpacked(pair[0], depth + 1)
        if not isinstance(key, bool | int | float | str | tuple | None):
            raise StudentError("unsafe_answer")
        try:
            made[key] = unpacked(pair[1], depth + 1)
        except TypeError as error:  # a tuple that holds a list is no key
            raise StudentError("unsafe_answer") from error
    return made


def _unpacked_array(shape: list[Any], kind: str, text: str) -> np.ndarray[Any, Any]:
    if kind not in _KINDS.values() or not all(type(one) is int and one >= 0 for one in shape) or len(shape) > _DEPTH:
        raise StudentError("unsafe_answer")
    try:
        raw = base64.b64decode(text, validate=True)
        return np.frombuffer(raw, dtype=kind).reshape(shape).copy()
    except ValueError as error:
        raise StudentError("unsafe_answer") from error
