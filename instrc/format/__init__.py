"""The one layout of programs and of JSON: same meaning, same comments, and no options."""
