"""A project with a few vibes, and an editor in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from editors import Scenario, editor

SCHEMAS = {
    "draft": {"type": "object", "description": "Write it.", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "identify": {
        "type": "object",
        "properties": {"organizer": {"type": "string"}, "attendees": {"type": "array", "items": {"type": "string"}}},
    },
    "send_Activity": {"type": "object", "properties": {"sent": {"type": "boolean"}}},
    "mail/note@2": {"type": "object", "properties": {"body": {"$ref": "aug:draft"}}},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a project with a few vibes."""
    (tmp_path / "pyproject.toml").write_text("")
    for name, schema in SCHEMAS.items():
        path = tmp_path / "schemas" / f"{name}.vibe.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(schema, indent=2))
    return tmp_path


@pytest.fixture
def talk(folder: Path) -> Callable[[Scenario], None]:
    """Run a scenario with an editor; what the server logs of itself fails the test."""

    def run(scenario: Scenario) -> None:
        async def whole() -> None:
            async with editor(folder) as client:
                await scenario(client)
                assert not [message for message in client.logged if "internal error" in message]

        asyncio.run(asyncio.wait_for(whole(), 60))

    return run
