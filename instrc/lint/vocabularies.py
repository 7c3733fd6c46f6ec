"""The keywords and formats that somebody has defined: what is in none of these lists is probably a slip.

Sources: the meta-schemas of JSON Schema drafts 3 to 2020-12; the OpenAPI 3.0 and 3.1 specifications and the OpenAPI format
registry (spec.openapis.org/registry/format); the schema reference of VS Code; the documentation of the packages named below.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


JSON_SCHEMA = _words(
    """
    $schema $id id $ref $defs $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary $comment
    definitions type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength
    pattern items prefixItems additionalItems contains maxItems minItems uniqueItems maxContains minContains
    unevaluatedItems properties patternProperties additionalProperties propertyNames maxProperties minProperties
    required unevaluatedProperties dependentRequired dependentSchemas dependencies allOf anyOf oneOf not if then else
    title description default examples deprecated readOnly writeOnly format contentEncoding contentMediaType
    contentSchema
    """
)
"""Drafts 4 to 2020-12."""
DRAFT_3 = frozenset({"extends", "disallow", "divisibleBy"})
OPENAPI = frozenset({"nullable", "discriminator", "example", "externalDocs", "xml"})
ENGINE = _words(
    """
    references arguments activity when each repeat try do else fail within delay plan among
    """
)
"""Engine properties of steps and blocks."""
TOOLS = _words(
    """
    propertyOrdering cache_control strict markdownDescription markdownEnumDescriptions enumDescriptions enumNames
    enumItemLabels enumDeprecated enumDetails defaultSnippets errorMessage patternErrorMessage deprecationMessage
    doNotSuggest suggestSortText allowComments allowTrailingCommas completionDetail tsType tsEnumNames tsImport
    javaType existingJavaType javaInterfaces customTypes instanceof typeof range exclusiveRange regexp transform
    uniqueItemProperties allRequired anyRequired oneRequired patternRequired prohibited deepProperties deepRequired
    dynamicDefaults select selectCases selectDefault formatMinimum formatMaximum formatExclusiveMinimum
    formatExclusiveMaximum options propertyOrder headerTemplate links media $data $async meta:enum meta:license
    """
)
"""Of Gemini and other providers, VS Code, `json-schema-to-typescript`, `jsonschema2pojo`, `ajv-keywords` and form editors."""

KNOWN = JSON_SCHEMA | DRAFT_3 | OPENAPI | ENGINE | TOOLS
OFFERED = tuple(sorted(JSON_SCHEMA | {"nullable"}))
"""What a misspelt keyword may have been."""

FORMATS = _words(
    """
    date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference
    uuid uri-template json-pointer relative-json-pointer regex color ip-address host-name phone style utc-millisec
    base64url binary byte char commonmark date-time-local decimal decimal128 double double-int float html http-date
    int8 int16 int32 int64 media-range password sf-binary sf-boolean sf-decimal sf-integer sf-string sf-token
    time-local uint8 uint16 uint32 uint64 unixtime unix-time enum google-datetime google-duration google-fieldmask
    cidr ipv4network ipv6network ipvanyaddress ipv4interface ipv6interface ipvanyinterface ipvanynetwork file-path
    directory-path path file data-url json-string multi-host-uri url uri-ref unknown country currency language
    decimal-string iso-date-time iso-time
    """
)
"""JSON Schema, draft 3, the OpenAPI registry, Google's discovery documents, pydantic and `ajv-formats`."""
