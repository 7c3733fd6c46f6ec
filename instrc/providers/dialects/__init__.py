"""The built-in targets as values, one module per provider family."""
