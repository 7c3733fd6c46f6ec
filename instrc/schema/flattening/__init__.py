"""Flatten schemas: follow references and fold conjunctions so that exactly the same instances are accepted."""
