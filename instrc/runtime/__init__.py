"""Run compiled programs; see `README.md` next to this file."""
