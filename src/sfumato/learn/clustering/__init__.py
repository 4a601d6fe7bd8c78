"""Centres near which rows lie."""
