"""A compiler for LLM instructions."""

from instrc.version import __version__

__all__ = ["__version__"]
