"""A second service on a folder of runs: it says soon who carries them, and what to do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from socket import gethostname
from time import monotonic

import pytest


@pytest.mark.long
def test_a_second_service_of_a_folder_names_the_first(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "tutorial" / "1-one-prompt"
    shutil.copytree(example, tmp_path, dirs_exist_ok=True)
    line = [sys.executable, "-m", "instrc", "serve", "--engine", "durable", "--store", "kept", "--rehearse"]
    first = subprocess.Popen([*line, "--port", "0"], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert first.stderr is not None
        while "serving" not in (said := first.stderr.readline()):
            assert said, "it has ended"
        holder = tmp_path / "kept" / "runner.txt"
        while not holder.exists():
            assert first.poll() is None
        began = monotonic()
        second = subprocess.run([*line, "--port", "0"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert monotonic() - began < 15, "five seconds, and what Python takes to start on a machine that is busy"
        assert second.returncode == 1
        assert f"process {first.pid} on {gethostname()} already carries out the runs" in second.stderr
    finally:
        first.terminate()
        first.communicate(timeout=30)
