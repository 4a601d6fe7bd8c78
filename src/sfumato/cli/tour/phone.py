"""Scene 9: where are you? A phone tells about where it is, keeps to a budget for the day, and says no."""

from dataclasses import dataclass
from pathlib import Path

from sfumato import geo
from sfumato.cli.tour.stage import Stage
from sfumato.errors import BudgetExceeded

HOME = (39.9593, 116.3108)
STEP = 0.01  # degrees: the next stop of the day, a kilometre on
LEVEL, RADIUS_M, PER_DAY = "ln 4", 200, 4


@dataclass(frozen=True, slots=True)
class Stop:
    """One position of the day: how far off the report was, and whether it was the one told before."""

    stop: str
    off_m: float
    reused: bool


@dataclass(frozen=True, slots=True)
class Traced:
    """What the scene found."""

    level: str
    radius_m: int
    usual_m: float
    stops: list[Stop]
    refusal: str


def play(stage: Stage, folder: Path) -> Traced:
    stage.scene(10, "Where are you?")
    hide = geo.planar(level=LEVEL, radius_m=RADIUS_M)
    device = geo.device(folder / "trace.json", hide, per_day=PER_DAY)
    usual = hide.error_m(0.95)
    stage.say(
        f"A phone asks for the weather, but its owner may be anywhere within {RADIUS_M} m as far as anybody can tell "
        f"(level {LEVEL}): 95 % of the reports lie within {usual:,.0f} m of the truth. A day of them:"
    )
    stops, refusal = [], ""
    for name, place in (("home", 0), ("bakery", 1), ("home", 0), ("work", 2), ("home", 0)):
        lat, lon = HOME[0] + place * STEP, HOME[1]
        try:
            told = device.report(lat, lon)
        except BudgetExceeded as error:
            refusal = str(error)
            stops.append(Stop(name, float("nan"), False))
            continue
        stops.append(Stop(name, float(geo.distance_m(lat, lon, told.lat, told.lon)), told.reused))
    stage.table(
        ["stop", "report is off by", ""],
        [
            [
                one.stop,
                "refused" if one.off_m != one.off_m else f"{one.off_m:,.0f} m",
                "as before" if one.reused else "",
            ]
            for one in stops
        ],
        right=["report is off by"],
    )
    if refusal:
        stage.notice("BudgetExceeded", refusal)
    return Traced(LEVEL, RADIUS_M, usual, [one for one in stops if one.off_m == one.off_m], refusal)
