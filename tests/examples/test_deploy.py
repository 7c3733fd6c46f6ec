"""The files for deployment call commands and options that exist, and say what each container may use."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import psycopg
import pytest
import yaml
from postgres_server import Database, postgres
from temporal_server import free_port

from instrc.cli import main

ROOT = Path(__file__).parents[2] / "examples" / "deploy"
KUBERNETES = [
    (f"{file.name} {document['kind']} {document['metadata']['name']}", document)
    for file in sorted((ROOT / "kubernetes").glob("*.yaml"))
    for document in yaml.safe_load_all(file.read_text(encoding="utf-8"))
]
DEPLOYMENTS = [document for _, document in KUBERNETES if document["kind"] == "Deployment"]


@pytest.fixture(scope="module")
def postgres_server() -> Iterator[Database]:
    with postgres() as server:
        yield server


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
    assert all("livenessProbe" in each for each in containers())
    for document in DEPLOYMENTS:
        assert document["spec"]["template"]["spec"]["securityContext"]["runAsNonRoot"]


def test_the_image_has_the_libraries_of_models() -> None:
    extras = tomllib.loads((ROOT.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    [installed] = re.findall(r"instrc\[(.*)\]", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert {*installed.split(",")} <= extras.keys()
    assert {"durable", "serve", "http", "openai", "anthropic", "gemini"} <= {*installed.split(",")}


def test_no_secret_enters_the_image_and_the_proxy_does_not_admit_everybody() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    files = [name for each in compose["services"].values() for name in each.get("env_file", ())]
    files += [each["file"] for each in compose["secrets"].values()]
    assert {name.split("/")[0] for name in files} | {".env*", ".instrc", ".git"} <= {*ignored}
    proxies = [compose["services"]["proxy"]["command"], *(each["args"] for each in containers() if each["name"] == "proxy")]
    assert len(proxies) > 1
    assert not [word for words in proxies for word in words if "email-domain" in word or "skip" in word]


@contextmanager
def started(command: list[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a command in a project, and end it as a container is ended."""
    line = [sys.executable, "-m", "instrc", *command]
    process = subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
        assert process.poll() is None, process.communicate()
        process.terminate()
        assert process.wait(60) == 0, process.communicate()
    finally:
        process.kill()
        process.communicate()


def until(done: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait until something holds, and return it."""
    end = monotonic() + seconds
    while not (result := done()):
        assert monotonic() < end
        sleep(0.1)
    return result


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_commands_carry_a_run_and_the_probes_and_the_autoscaler_see_it(postgres_server: Database, tmp_path: Path) -> None:
    program = '"Write" | @{ title: "Draft", type: "object", properties: { text: { type: "string" } } }'
    (tmp_path / "draft.aug").write_text(program, encoding="utf-8")
    store, alive, port = str(postgres_server.fresh()), tmp_path / "alive", str(free_port())
    worker, serve = (
        [store if word.startswith("postgresql:") else str(alive) if word == "/tmp/alive" else word for word in each]  # noqa: S108  -- of a container
        for each in (calls()["worker in compose"], calls()["serve in compose"])
    )
    [trigger] = yaml.safe_load((ROOT / "kubernetes" / "keda" / "worker.yaml").read_text(encoding="utf-8"))["spec"]["triggers"]

    def age() -> int:
        with psycopg.connect(store) as connection:
            return connection.execute(trigger["metadata"]["query"]).fetchone()[0]

    address = f"http://127.0.0.1:{port}"
    with started([*serve, "--port", port, "--model", "sample"], tmp_path):

        def status(path: str) -> Any:
            try:
                return httpx.get(f"{address}{path}", timeout=60)
            except httpx.TransportError:
                return None

        until(lambda: (ready := status("/readyz")) is not None and ready.status_code == 200)
        [offered] = status("/v1/programs").json()["items"]
        begun = httpx.post(f"{address}/v1/runs", json={"program": offered["name"], "input": "x"}, timeout=60)
        assert begun.status_code == 201, begun.text
        run = begun.json()["run"]
        until(lambda: age() >= 1)  # nobody takes it
        with started([*worker], tmp_path):
            assert until(lambda: status(f"/v1/runs/{run}").json()["status"] == "done")
            assert age() == 0
            first = until(alive.exists) and alive.stat().st_mtime
            assert until(lambda: alive.stat().st_mtime > first), "it shows that it lives"


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
