"""Plans that a model decides on, checked before anything runs; see `README.md` beside this file."""
