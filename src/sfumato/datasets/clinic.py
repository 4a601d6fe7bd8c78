"""What people of the town come to the clinic with, how often, and at what price. Written by hand, from no data."""

from dataclasses import dataclass

YEAR = 2024
# The lowest ages of the four groups that the weights below speak of.
AGE_GROUPS = (0, 25, 45, 65)
# Weights of one visit, two visits, and so on: about two visits per person, never more than twelve.
VISITS_A_PERSON = (2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1)
# Monday to Sunday.
VISITS_A_WEEKDAY = (11, 10, 10, 10, 9, 3, 2)
# The chance that a visit is about the person's lasting condition rather than something new.
SHARE_OF_LASTING_CONDITION = 0.6
COST_SPREAD = 0.45


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A reason for a visit: its weight in each age group for women and for men, and the median cost of the visit."""

    name: str
    women: tuple[int, int, int, int]
    men: tuple[int, int, int, int]
    median_cost: float


DIAGNOSES = (
    Diagnosis("Routine check-up", (24, 20, 16, 12), (18, 16, 14, 12), 120),
    Diagnosis("Respiratory infection", (18, 14, 10, 8), (18, 14, 10, 8), 140),
    Diagnosis("Injury", (9, 7, 5, 8), (20, 14, 8, 5), 610),
    Diagnosis("Back pain", (4, 9, 11, 9), (5, 12, 13, 8), 190),
    Diagnosis("Hypertension", (1, 4, 14, 20), (1, 6, 17, 19), 130),
    Diagnosis("Type 2 diabetes", (1, 3, 8, 11), (1, 3, 9, 12), 240),
    Diagnosis("Heart disease", (0, 1, 4, 11), (0, 2, 8, 15), 1_450),
    Diagnosis("Asthma", (6, 5, 4, 3), (6, 4, 3, 2), 180),
    Diagnosis("Arthritis", (1, 3, 9, 14), (1, 2, 6, 9), 210),
    Diagnosis("Depression", (8, 9, 8, 5), (5, 6, 5, 3), 170),
    Diagnosis("Anxiety disorder", (10, 9, 6, 3), (6, 6, 4, 2), 160),
    Diagnosis("Alcohol dependence", (1, 2, 2, 1), (3, 5, 5, 2), 480),
    Diagnosis("Sexually transmitted infection", (5, 2, 1, 0), (5, 3, 1, 0), 150),
    Diagnosis("HIV", (1, 1, 1, 0), (2, 3, 2, 1), 890),
    Diagnosis("Pregnancy", (9, 12, 0, 0), (0, 0, 0, 0), 320),
    Diagnosis("Breast cancer", (0, 1, 4, 4), (0, 0, 0, 0), 2_900),
    Diagnosis("Prostate cancer", (0, 0, 0, 0), (0, 0, 2, 6), 2_600),
    Diagnosis("Epilepsy", (2, 1, 1, 1), (2, 1, 1, 1), 370),
)
