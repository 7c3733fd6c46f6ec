"""Run Python that a model wrote: in a process of its own, with limits; what goes wrong is an observation, never a crash."""
