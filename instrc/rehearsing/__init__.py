"""Visits every branch of a process with made answers: no key, no network, no effect."""
