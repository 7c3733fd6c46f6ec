"""The first version of the interpreter; runs that began with it finish with it."""
