"""The numbers and tables of the sample."""

import pyarrow as pa

NAMES = {
    "en": ["Ann", 'Bob "Bo"', "Cy, jr"],
    "ru": ["Анна", 'Борис "Боря"', "Света, мл."],
    "vi": ["An", 'Bình "Bi"', "Chi, em"],
    "zh": ["安娜", "博“小博”", "夏, 小"],
}


def numbers(v):
    return {"scale": (1 / v.eps, 2), "rows": v.rows, "tiny": 1e-5}


def files(v):
    return {"main": f"data_for_lab90_var{v.number}.csv"}


def tables(v, lang):
    names = NAMES[lang]
    drawn = v.stream("people").uniform(v.rows)
    return {"main": pa.table({"name": [names[row % 3] for row in range(v.rows)], "value": drawn})}
