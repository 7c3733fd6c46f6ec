"""Regular files are read as far as asked, whatever size they say they have."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from instrc.text.files import read_regular, read_whole


@pytest.mark.parametrize("size", [0, 1, 99, 100, 101, 3_000_000])
def test_as_much_as_asked_is_read(tmp_path: Path, size: int) -> None:
    data = os.urandom(size)
    (tmp_path / "a").write_bytes(data)
    assert read_regular(str(tmp_path / "a"), 100) == data[:100]
    assert read_regular(str(tmp_path / "a"), 2_000_000) == data[:2_000_000]
    assert read_whole(str(tmp_path / "a")) == data


@pytest.mark.skipif(sys.platform != "linux", reason="no such files")
def test_a_file_without_a_size_is_read_to_its_end() -> None:
    assert Path("/proc/self/status").stat().st_size == 0
    assert read_regular("/proc/self/status", 100_000).startswith(b"Name:")
    assert b"VmPeak" in read_regular("/proc/self/status", 100_000)
    assert len(read_regular("/proc/self/status", 7)) == 7
