"""Load the `agent.py` of an example."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

AGENTS = Path(__file__).parents[2] / "examples" / "agents"


def example(name: str) -> ModuleType:
    """Return the module of an example."""
    word = name.replace("-", "_")
    spec = spec_from_file_location(word, AGENTS / name / "agent.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[word] = module
    spec.loader.exec_module(module)
    return module
