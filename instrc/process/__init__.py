"""Processes as pictures: what is to be seen, where it goes, and four ways to write it down."""
