"""Processes, their JSON and their differences, and pictures of them as text, Mermaid, SVG and a page."""
