"""The interpreter: the next step of a run is a pure function of its plan and its journal; see `versions`."""
