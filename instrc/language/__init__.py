"""Text to tree and back: the lexer, the parser, recovery from mistakes, the formatter."""
