"""The text of a program: parsed, its known mistakes named, printed again."""
