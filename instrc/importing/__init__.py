"""Import tools from files, the standard input, values and objects of Python; each vibe that comes out passes the check."""
