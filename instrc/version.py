"""The version of the package; nothing else, so that printing it imports nothing."""

__version__ = "0.2.0"
