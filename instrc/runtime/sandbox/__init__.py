"""Run Python code written by a model in a separate process, with limits."""
