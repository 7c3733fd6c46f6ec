"""Where instructions come from: `aug:` references, root folders, vibe files, settings, the lock."""
