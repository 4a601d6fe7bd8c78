"""Amounts of money in words that fit their size."""

MILLION = 1_000_000


def dollars(value: float, *, cents: bool = False) -> str:
    """−$1,234 or −$1,234.56."""
    return f"{'−' if value < 0 else ''}${abs(value):,.{2 if cents else 0}f}"


def about(value: float) -> str:
    """$62 million, or $58,822."""
    return f"${value / MILLION:,.0f} million" if value >= MILLION else dollars(value)
