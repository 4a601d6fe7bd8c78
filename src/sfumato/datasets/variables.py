"""The thirteen census variables of the town: their values, in the order in which the tables count them.

The values are the public code book of the 1994 census extract known as Adult. None stands for "not stated".
"""

from dataclasses import dataclass

SEX = ("Female", "Male")
RELATIONSHIP = ("Husband", "Wife", "Own-child", "Other-relative", "Unmarried", "Not-in-family")
MARITAL_STATUS = (
    "Married-civ-spouse",
    "Married-AF-spouse",
    "Married-spouse-absent",
    "Separated",
    "Divorced",
    "Widowed",
    "Never-married",
)
INCOME_CLASS = ("<=50K", ">50K")
OCCUPATION = (
    "Adm-clerical",
    "Armed-Forces",
    "Craft-repair",
    "Exec-managerial",
    "Farming-fishing",
    "Handlers-cleaners",
    "Machine-op-inspct",
    "Other-service",
    "Priv-house-serv",
    "Prof-specialty",
    "Protective-serv",
    "Sales",
    "Tech-support",
    "Transport-moving",
    None,
)
WORKCLASS = (
    "Private",
    "Self-emp-not-inc",
    "Self-emp-inc",
    "Federal-gov",
    "Local-gov",
    "State-gov",
    "Without-pay",
    "Never-worked",
    None,
)
# In order of attainment: position + 1 is the census code in education_num.
EDUCATION = (
    "Preschool",
    "1st-4th",
    "5th-6th",
    "7th-8th",
    "9th",
    "10th",
    "11th",
    "12th",
    "HS-grad",
    "Some-college",
    "Assoc-voc",
    "Assoc-acdm",
    "Bachelors",
    "Masters",
    "Prof-school",
    "Doctorate",
)
RACE = ("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")


@dataclass(frozen=True, slots=True)
class Band:
    """The whole numbers from low to high, both included."""

    low: int
    high: int


AGE_BANDS = (
    Band(17, 17),
    Band(18, 19),
    Band(20, 21),
    Band(22, 24),
    Band(25, 27),
    Band(28, 30),
    Band(31, 34),
    Band(35, 38),
    Band(39, 42),
    Band(43, 46),
    Band(47, 50),
    Band(51, 55),
    Band(56, 60),
    Band(61, 65),
    Band(66, 72),
    Band(73, 90),
)
HOURS_BANDS = (
    Band(1, 14),
    Band(15, 24),
    Band(25, 34),
    Band(35, 39),
    Band(40, 40),
    Band(41, 45),
    Band(46, 50),
    Band(51, 60),
    Band(61, 99),
)
GAIN_BANDS = (
    Band(0, 0),
    Band(1, 2_999),
    Band(3_000, 4_999),
    Band(5_000, 6_999),
    Band(7_000, 9_999),
    Band(10_000, 19_999),
    Band(20_000, 99_999),
)
LOSS_BANDS = (
    Band(0, 0),
    Band(1, 1_499),
    Band(1_500, 1_799),
    Band(1_800, 1_999),
    Band(2_000, 2_499),
    Band(2_500, 4_356),
)

# A group is counted in the tables; inside it, the weight of a country is a guess that leans on the test part of the
# extract, coarsely rounded, and not on the people counted.
COUNTRY_GROUPS: tuple[tuple[tuple[str | None, int], ...], ...] = (
    (("United-States", 1),),
    (("Mexico", 1),),
    (
        ("Puerto-Rico", 8),
        ("El-Salvador", 7),
        ("Cuba", 7),
        ("Jamaica", 6),
        ("Dominican-Republic", 6),
        ("Guatemala", 4),
        ("Columbia", 4),
        ("Haiti", 3),
        ("Nicaragua", 2),
        ("Peru", 2),
        ("Ecuador", 2),
        ("Trinadad&Tobago", 1),
        ("Honduras", 1),
        ("Outlying-US(Guam-USVI-etc)", 1),
    ),
    (
        ("Philippines", 10),
        ("India", 6),
        ("China", 5),
        ("South", 5),
        ("Vietnam", 4),
        ("Japan", 4),
        ("Taiwan", 3),
        ("Iran", 3),
        ("Hong", 1),
        ("Thailand", 1),
        ("Cambodia", 1),
        ("Laos", 1),
    ),
    (
        ("Germany", 8),
        ("Canada", 7),
        ("England", 6),
        ("Italy", 5),
        ("Poland", 4),
        ("Portugal", 3),
        ("Greece", 2),
        ("France", 2),
        ("Ireland", 2),
        ("Yugoslavia", 1),
        ("Hungary", 1),
        ("Scotland", 1),
        ("Holand-Netherlands", 1),
    ),
    ((None, 1),),
)
# Inside its group, a country here is far likelier for people of this race and far less likely for others.
TYPICAL_RACE = {"Jamaica": "Black", "Haiti": "Black", "Trinadad&Tobago": "Black", "Iran": "White"}

SIZES: dict[str, int] = {
    "sex": len(SEX),
    "relationship": len(RELATIONSHIP),
    "marital_status": len(MARITAL_STATUS),
    "age": len(AGE_BANDS),
    "income_class": len(INCOME_CLASS),
    "occupation": len(OCCUPATION),
    "workclass": len(WORKCLASS),
    "education": len(EDUCATION),
    "hours_per_week": len(HOURS_BANDS),
    "capital_gain": len(GAIN_BANDS),
    "capital_loss": len(LOSS_BANDS),
    "native_country": len(COUNTRY_GROUPS),
    "race": len(RACE),
}
