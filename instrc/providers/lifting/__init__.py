"""Lift a model's answer to the original names and shapes."""
