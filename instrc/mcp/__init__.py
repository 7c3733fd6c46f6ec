"""Compiled tools and processes as a server of the Model Context Protocol."""
