"""Engines carry runs: in memory, durably on one machine, on a cluster."""
