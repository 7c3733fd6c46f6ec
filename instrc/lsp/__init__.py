"""The language server: what an editor asks about programs and vibes, saved or not."""
