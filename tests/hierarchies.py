"""The hierarchies usual for Adult, as rules: what each value becomes, step by step, until nothing is left of it.

Published results on Adult use these groups, so they are kept as they are, with "Europa" beside "Europe".
"""

from collections.abc import Iterator

ANYTHING = "*"
UNKNOWN = "?"
# No one in Adult is 89.
AGES = [age for age in range(17, 91) if age != 89]
WIDTHS = (5, 10, 20, 40, 80)
OLDEST = 80

GROUPS = {
    "country": {
        "Africa": "South",
        "Asia": "Cambodia China Hong India Iran Japan Laos Philippines Taiwan Thailand Vietnam",
        "Europa": "England",
        "Europe": "France Germany Greece Holand-Netherlands Hungary Ireland Italy Poland Portugal Scotland Yugoslavia",
        "North America": "Canada Cuba Dominican-Republic El-Salvador Guatemala Haiti Honduras Jamaica Mexico "
        "Outlying-US(Guam-USVI-etc) Puerto-Rico United-States",
        "South America": "Columbia Ecuador Nicaragua Peru Trinadad&Tobago",
        "Unknown": UNKNOWN,
    },
    "education": {
        "Primary School,Primary education": "Preschool 1st-4th 5th-6th",
        "High School,Secondary education": "7th-8th 9th 10th 11th 12th HS-grad",
        "Professional Education,Higher education": "Assoc-acdm Assoc-voc Prof-school",
        "Undergraduate,Higher education": "Bachelors Some-college",
        "Graduate,Higher education": "Doctorate Masters",
    },
    "marital": {
        "Spouse present": "Married-AF-spouse Married-civ-spouse",
        "Spouse not present": "Divorced Married-spouse-absent Never-married Separated Widowed",
    },
    "occupation": {
        "Technical": "Craft-repair Machine-op-inspct Prof-specialty Tech-support",
        "Nontechnical": "Exec-managerial Handlers-cleaners Sales",
        "Other": "Adm-clerical Armed-Forces Farming-fishing Other-service Priv-house-serv Protective-serv "
        f"Transport-moving {UNKNOWN}",
    },
    "workclass": {
        "Government": "Federal-gov Local-gov State-gov",
        "Non-Government": "Private Self-emp-inc Self-emp-not-inc",
        "Unemployed": "Never-worked Without-pay",
        "Unknown": UNKNOWN,
    },
}
PLAIN = {
    "race": "Amer-Indian-Eskimo Asian-Pac-Islander Black Other White",
    "salary": "<=50K >50K",
    "sex": "Female Male",
}


def hierarchies() -> dict[str, str]:
    """The text of each file, by name: a line a value, with all it may become."""
    grouped = {name: list(_grouped(groups)) for name, groups in GROUPS.items()}
    plain = {name: [f"{value},{ANYTHING}" for value in values.split()] for name, values in PLAIN.items()}
    return {name: "\n".join(lines) + "\n" for name, lines in {"age": list(_ages()), **grouped, **plain}.items()}


def _ages() -> Iterator[str]:
    for age in AGES:
        steps = [f'"[{age - age % width}, {age - age % width + width}["' for width in WIDTHS]
        if age >= OLDEST:
            steps = [f">={OLDEST}"] * len(WIDTHS)
        yield ",".join([str(age), *steps, ANYTHING])


def _grouped(groups: dict[str, str]) -> Iterator[str]:
    for group, values in groups.items():
        yield from (f"{value},{group},{ANYTHING}" for value in values.split())
