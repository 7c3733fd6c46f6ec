"""Flatten schemas: follow references, fold conjunctions, and what is built on that."""
