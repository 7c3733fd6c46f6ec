"""Version of the package, in a module of its own so that printing it imports nothing."""

__version__ = "0.2.0"
