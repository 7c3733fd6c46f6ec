"""Run compiled programs; see `README.md` beside this file."""
