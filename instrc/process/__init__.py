"""Processes as pictures: nodes and arrows, their layout, and four output formats."""
