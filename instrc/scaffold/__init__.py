"""First files: a project that compiles at once, and single instructions, mixins and processes to begin with."""
