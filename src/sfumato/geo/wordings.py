"""What `sfumato.geo` says when it cannot go on. No wording shows a position."""

from collections.abc import Iterable, Sequence

from sfumato.errors import BudgetExceeded, DataUnreadable, UsageError, did_you_mean, quoted

Problem = tuple[int, str]


def bad_positions(problems: Sequence[Problem], *, listed: int = 5) -> UsageError:
    """Rows are counted from 1, a header not included."""
    rows = "; ".join(f"row {row}: {reason}" for row, reason in problems[:listed])
    more = f"; and {len(problems) - listed} more" if len(problems) > listed else ""
    noun = "row holds" if len(problems) == 1 else "rows hold"
    return UsageError(
        f"{len(problems)} {noun} no position: {rows}{more}.",
        'Fix them, or leave them out openly: on_bad="skip" in Python, --skip-bad in the shell; both name them.',
    )


def lengths_differ(first: int, second: int) -> UsageError:
    return UsageError(f"there are {first} latitudes and {second} longitudes.", "Pass one of each per position.")


def level_unreadable() -> UsageError:
    return UsageError("the level is neither a number nor a text like ln 4.", 'Write e.g. level=1.39 or level="ln 4".')


def noise_too_wide(reach_km: int) -> UsageError:
    return UsageError(
        "so low a level per metre spreads positions over a continent.",
        f"Raise the level or shrink the radius: radius over level may be at most {reach_km} km.",
    )


def noise_too_narrow() -> UsageError:
    return UsageError(
        "so high a level per metre adds less than a millimetre of noise, which protects nobody.",
        "Lower the level or widen the radius.",
    )


def price_ambiguous() -> UsageError:
    return UsageError(
        "say how strong the protection is, once.",
        "Give level and radius_m (e.g. level=1.39, radius_m=200), or epsilon per metre.",
    )


def not_a_position(what: str) -> UsageError:
    return UsageError(f"{what} is not a latitude and a longitude in degrees.", "Write e.g. (39.9593, 116.3108).")


def no_places() -> UsageError:
    return UsageError("there is no place to choose.", "List at least one public place as (latitude, longitude).")


def weights_unusable() -> UsageError:
    return UsageError("the weights of the prior are not one positive number per place.", "Pass counts or shares.")


def box_unusable() -> UsageError:
    return UsageError(
        "a box is south, west, north, east in degrees, with south below north and west below east.",
        "Write e.g. (39.8, 116.2, 40.1, 116.6). A box over the date line is two boxes.",
    )


def column_unknown(name: str, present: Iterable[str]) -> DataUnreadable:
    return DataUnreadable(
        f'there is no column "{name}".{did_you_mean(name, present)}',
        "Name the columns with lat= and lon= in Python, --lat and --lon in the shell.",
    )


def not_geojson(reason: str) -> DataUnreadable:
    return DataUnreadable(f"this is not GeoJSON with points: {reason}.", "Pass a FeatureCollection of Point features.")


def source_unknown(kind: str) -> UsageError:
    return UsageError(
        f"positions cannot be read from a {kind}.",
        "Pass a path, a pandas, Polars or Arrow table, or a list of (latitude, longitude).",
    )


def daily_spent(cost: str, left: str, limit: str) -> BudgetExceeded:
    return BudgetExceeded(
        f"a new place costs level {cost}; {left} of {limit} a day is left.",
        "Report again tomorrow; places that were reported before stay free.",
    )


def total_spent(cost: str, left: str, limit: str) -> BudgetExceeded:
    return BudgetExceeded(
        f"a new place costs level {cost}; {left} of {limit} in all is left.",
        "Places that were reported before stay free; a new trace needs a new device file and forgets the old promise.",
    )


def device_differs(what: str) -> UsageError:
    return UsageError(
        f"this device file was opened with another {what}.",
        "Open it with the settings it was made with: reports drawn before rest on them.",
    )


def not_a_metric(reason: str) -> UsageError:
    return UsageError(
        f"the distances are no metric: {reason}.", "The guarantee rests on the triangle inequality; fix the distances."
    )


def item_unknown(places: Sequence[int], known: int) -> UsageError:
    return UsageError(
        f"item {quoted([str(place) for place in places], 5)} of the input is not one of the {known} known ones.",
        'Add it to the list beforehand, or say on_unknown="skip", which leaves it out and says where.',
    )


def vectors_unusable(reason: str) -> UsageError:
    return UsageError(
        f"the word vectors cannot be used: {reason}.", "Pass one finite vector per word, all of one length."
    )


def mechanism_unknown(name: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(f'there is no mechanism "{name}".{did_you_mean(name, known)}', f"Name one of {quoted(known)}.")


def correction_impossible() -> UsageError:
    return UsageError(
        "no corrected epsilon exists for such coarse angles over so long a reach.",
        "Use finer angles, a coarser grid or a smaller reach.",
    )
