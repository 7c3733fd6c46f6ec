"""Drivers: what carries a run, in memory, durably on one machine, or on a cluster."""
