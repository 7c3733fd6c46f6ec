"""Tools written down elsewhere become vibes: one file a kind, and the way that all of them share."""
