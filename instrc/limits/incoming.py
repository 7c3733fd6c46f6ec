"""Limits of what comes in: files, references, and tools that others wrote."""

from __future__ import annotations

from typing import Final

# texts and files

LOCK_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a lock file."""
SHOWN_REFERENCE: Final = 100
"""Characters of a reference that a refusal shows."""
REFERENCE_LENGTH: Final = 4096
"""Characters of an address."""
SETTINGS_BYTES: Final = 1024 * 1024
"""Of a `pyproject.toml`."""
COMPONENT_HOPS: Final = 50
"""References to references that are followed in an OpenAPI document."""
FUNCTION_LEVELS: Final = 100
"""Levels of a list of functions."""
GIVEN_PARTS: Final = 5_000_000
"""Values of what is given; more is refused, as is what holds itself."""
GIVEN_LEVELS: Final = 4000
"""How deep what is given may nest."""
TOOL_NAME: Final = 100
"""Characters of a name; file systems allow 255 bytes, version and ending included."""
TOOL_NAME_BYTES: Final = 200
"""Bytes of it."""
YAML_VALUES: Final = 100_000
"""Values of a YAML text with its aliases written out; ten times what is written may always be."""

DEPENDENT_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a file that is searched for references."""
CASE_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a file of cases."""

# files, and what a project sets

IMPORT_ATTEMPTS: Final = 20
"""Attempts to make an imported vibe pass the check."""
SOURCE_FILES: Final = 1000
"""Files that one source of tools may be spread over."""
VIBE_BYTES: Final = 1024 * 1024
"""Bytes of a vibe, unless a setting says otherwise."""
PROGRAM_BYTES: Final = 1 << 20
"""Bytes of a program, unless a setting says otherwise."""
HIGHEST_LIMIT: Final = 2_000_000_000
"""The largest limit that a project may set: a file of that size is read into memory."""
UNOPENED_BYTES: Final = 1024 * 1024
"""Bytes of a file that an editor has not opened."""
SEEN_BYTES: Final = 1 << 20
"""Bytes of a file that are looked at to tell what kind of source it is."""
LISTED_FILES: Final = 2_000
"""Files and folders near a program among which a vibe is looked for that was saved under a wrong name."""
LISTED_LEVELS: Final = 3
"""Levels of folders that are looked through for it."""
