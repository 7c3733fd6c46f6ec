"""Text to tree and back: lexer, parser, recovery from mistakes, formatter."""
