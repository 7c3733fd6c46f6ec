"""The language server: requests of editors about programs and vibes, saved or not."""
