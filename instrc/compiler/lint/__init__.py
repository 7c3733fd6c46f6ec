"""Find suspicious places in a vibe or a program."""
