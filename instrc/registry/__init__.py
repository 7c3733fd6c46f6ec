"""Where instructions live: `aug:` addresses, root folders, vibe files."""
