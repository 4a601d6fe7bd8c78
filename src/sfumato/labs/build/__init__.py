"""Editions of a lab: notebooks, Word, PDF, web page and data, for students and for teachers."""
