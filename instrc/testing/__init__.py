"""Rehearsals, test cases and previews of programs."""
