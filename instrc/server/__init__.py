"""Compiled tools and processes, served: the Model Context Protocol."""
