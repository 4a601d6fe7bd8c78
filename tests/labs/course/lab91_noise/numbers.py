"""Numbers and tables of the small lab."""

import pyarrow as pa


def numbers(v):
    return {"scale": (7 / v.eps, 2)}


def files(v):
    return {"main": f"data_for_lab91_var{v.number}.csv"}


def tables(v, lang):
    from sfumato.labs.source import read  # the folder is no package

    checks = read(_folder()).module("checks")
    return {"main": pa.table({"age": checks.ages(v), "place": checks.places(v)})}


def _folder():
    from pathlib import Path

    return Path(__file__).parent
