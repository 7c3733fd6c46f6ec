"""What is written in Python, as JSON Schema and JSON: types, functions, instances, calls."""
