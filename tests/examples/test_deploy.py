"""The files for deployment call commands and options that exist, and say what each container may use."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from instrc.cli import main

ROOT = Path(__file__).parents[2] / "examples" / "deploy"
KUBERNETES = [
    (f"{file.name} {document['kind']} {document['metadata']['name']}", document)
    for file in sorted((ROOT / "kubernetes").glob("*.yaml"))
    for document in yaml.safe_load_all(file.read_text(encoding="utf-8"))
]
DEPLOYMENTS = [document for _, document in KUBERNETES if document["kind"] == "Deployment"]


def containers() -> list[dict[str, Any]]:
    return [each for document in DEPLOYMENTS for each in document["spec"]["template"]["spec"]["containers"]]


def calls() -> dict[str, list[str]]:
    """Return how `instrc` is called in each file, as the words after it."""
    found = {f"{each['name']} in Kubernetes": each["args"] for each in containers() if each["name"] != "proxy"}
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    found |= {f"{name} in compose": each["command"] for name, each in compose.items() if "build" in each}
    for unit in (ROOT / "systemd").glob("*.service"):
        [line] = re.findall(r"^ExecStart=\S+/instrc (.*)$", unit.read_text(encoding="utf-8"), re.MULTILINE)
        found[unit.name] = line.split()
    return found


@pytest.mark.parametrize("place", calls())
def test_a_command_and_its_options_exist(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    command, *words = calls()[place]
    assert main([command, "--help"]) == 0
    said = capsys.readouterr().out
    assert [word for word in words if word.startswith("--") and f"{word} " not in said] == []


def test_a_container_has_its_rights_its_resources_and_a_probe() -> None:
    for each in containers():
        assert {"requests", "limits"} <= each["resources"].keys(), each["name"]
        if each["name"] != "proxy":
            assert each["securityContext"]["allowPrivilegeEscalation"] is False
            assert each["envFrom"], "keys come from a secret"
    assert all("livenessProbe" in each for each in containers() if "TEMPORAL_ADDRESS" not in str(each))
    for document in DEPLOYMENTS:
        assert document["spec"]["template"]["spec"]["securityContext"]["runAsNonRoot"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_the_units_are_those_of_systemd(tmp_path: Path) -> None:
    for unit in (ROOT / "systemd").glob("*.service"):
        text = unit.read_text(encoding="utf-8").replace("/srv/shop/.venv/bin/instrc", sys.executable)
        (tmp_path / unit.name.replace("@", "@1")).write_text(text, encoding="utf-8")
    command = ["systemd-analyze", "verify", "--man=no", *map(str, tmp_path.iterdir())]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    assert str(tmp_path) not in said.stderr, said.stderr


@pytest.mark.skipif(shutil.which("kubernetes-validate") is None, reason="kubernetes-validate is not installed")
def test_the_manifests_follow_the_schemas_of_kubernetes() -> None:
    subprocess.run(["kubernetes-validate", "--strict", *map(str, (ROOT / "kubernetes").glob("*.yaml"))], check=True)


@pytest.mark.skipif(shutil.which("check-jsonschema") is None, reason="check-jsonschema is not installed")
def test_compose_and_workflows_follow_their_schemas() -> None:
    command = ["check-jsonschema", "--builtin-schema"]
    subprocess.run([*command, "vendor.compose-spec", str(ROOT / "compose.yaml")], check=True)
    workflows = [str(file) for file in (ROOT.parents[1] / ".github" / "workflows").glob("*.yml")]
    subprocess.run([*command, "vendor.github-workflows", *workflows], check=True)
