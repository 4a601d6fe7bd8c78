"""The part a column plays when a table is anonymised or its risk is measured."""

ROLES = ("identifier", "quasi-identifier", "sensitive", "other")
