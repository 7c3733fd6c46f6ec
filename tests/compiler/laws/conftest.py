"""The vibes that generated programs call."""

from __future__ import annotations

from pathlib import Path

import pytest
from meaning import registry

from instrc.vibes.registry import Registry


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    return registry(Path(tmp_path_factory.mktemp("vibes")))
