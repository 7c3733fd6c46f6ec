"""Serve programs: runs over HTTP, pages for people, and the protocols MCP, A2A and AG-UI."""
