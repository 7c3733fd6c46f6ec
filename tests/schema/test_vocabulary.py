"""The table of keywords against the meta-schemas of JSON Schema: which draft brought a keyword, and which had it last."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

import pytest

from instrc.schema.drafts import metaschema  # one draft by itself
from instrc.schema.vocabulary import KEYWORDS

DRAFTS = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
    2020: "https://json-schema.org/draft/2020-12/schema",
}


def keywords_of(uri: str) -> set[str]:
    """Return the keywords that a meta-schema lists, with those of its vocabularies."""
    meta: Any = metaschema(uri)
    found = set(meta["properties"])
    for branch in meta.get("allOf", ()):
        found |= keywords_of(urljoin(uri, branch["$ref"]))
    return found


BEYOND = {
    "$defs": {4, 6, 7},  # read in every draft
    "$ref": {4},  # JSON Reference has it, a document of its own
    "writeOnly": {7},  # forgotten in the first meta-schema of the draft
    "example": set(DRAFTS),  # of OpenAPI
}
"""Keywords that a draft has though its meta-schema does not list them."""
GONE = {
    "id": {4},  # called `$id` since
    "dependencies": {2019, 2020},  # listed so that nobody uses them for something else
    "$recursiveAnchor": {2020},
    "$recursiveRef": {2020},
}
"""Keywords that a meta-schema lists though its draft applies them no more."""


@pytest.mark.parametrize("year", DRAFTS)
def test_a_draft_has_the_keywords_that_its_meta_schema_lists(year: int) -> None:
    listed = keywords_of(DRAFTS[year])
    ours = {row.name for row in KEYWORDS.values() if row.since <= year <= row.until}
    assert ours - listed == {name for name, years in BEYOND.items() if year in years}
    assert listed - ours == {name for name, years in GONE.items() if year in years}
