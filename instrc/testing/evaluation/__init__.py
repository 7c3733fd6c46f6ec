"""Evaluation of programs: cases with expected results, checks, repeated runs, reports."""
