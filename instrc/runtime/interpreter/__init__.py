"""The interpreter: what a run does next is a pure function of its plan and its journal; see `versions`."""
