"""What a device says when its state cannot be trusted. No wording shows what is remembered."""

from sfumato.errors import DataUnreadable, UsageError


def state_unusable(path: str, reason: str) -> DataUnreadable:
    return DataUnreadable(
        f"the device file {path} cannot be used: {reason}.",
        "Restore it; a device that forgets what it reported cannot protect.",
    )


def state_unwritable(path: str, reason: str) -> DataUnreadable:
    return DataUnreadable(
        f"the device file {path} cannot be written: {reason}. Nothing was reported.",
        "Check the disk and the permissions.",
    )


def state_linked(path: str) -> DataUnreadable:
    return DataUnreadable(
        f"the device file {path} has a second name (a hard link), which would be a second budget.",
        f"Remove its other names, which find / -samefile {path} lists. A backup should be a copy, not a link.",
    )


def state_gone(path: str) -> DataUnreadable:
    return DataUnreadable(
        f"the device file {path} is gone since this device was opened.",
        "Restore it; deleting it does not refill the budget.",
    )


def state_went_back(path: str) -> DataUnreadable:
    return DataUnreadable(
        f"the device file {path} has forgotten what this device has seen in it.",
        "An older copy, or another file, was put in its place. Restore the newest one.",
    )


def state_replaced(path: str) -> DataUnreadable:
    return DataUnreadable(
        f"the device file {path} was replaced or removed in the middle of a report. Nothing was reported.",
        "Restore the newest one, and leave it to the device.",
    )


def device_of_another_process() -> UsageError:
    return UsageError(
        "this device was made in another process, and its budget is only in memory: both would spend it.",
        'Give it a file that both share, e.g. path="device.json", or make a device in each process for its own person.',
    )


def device_forked_meanwhile() -> UsageError:
    return UsageError(
        "this process was forked in the middle of a report, which is its parent's. Nothing was reported here.",
        "Report again: the device itself works in both.",
    )
