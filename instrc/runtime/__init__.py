"""Run what was compiled; see `README.md` beside this file."""
