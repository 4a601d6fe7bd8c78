"""Grading: a trusted parent that holds seeds and statistics, and a box a submission in which student code runs."""
