"""Flatten schemas: follow references and fold conjunctions, accepting exactly the same instances."""
