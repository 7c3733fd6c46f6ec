"""List the alternatives of a union.

* `oneOf` says more than any engine enforces, unless its branches exclude each other: it becomes `anyOf`.
* What stands beside `anyOf` goes into its branches: xgrammar and outlines-core misread siblings.
* Two unions of 10 branches under one `allOf` have 100 combinations: a target without nested unions gets each of them;
  where they would become too many, some unions are reported as lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

from msgspec.structs import replace

from instrc.jsonvalue import Json, JsonObject, as_array
from instrc.limits.payloads import COMPARED_VARIANTS, MULTIPLIED_BRANCHES, UNION_VARIANTS
from instrc.lowering.context import ListVariants, Progress, RewriteContext, intersected
from instrc.lowering.notes import note
from instrc.lowering.rewrites import anything
from instrc.lowering.variants import Variant
from instrc.schema.relations import disjoint
from instrc.schema.vocabulary import HOLDERS, NO_ASSERTIONS

_NOT_BESIDE = frozenset({"anyOf", "not", "if", "then", "else"}) | NO_ASSERTIONS
"""Keywords that do not go into the branches of the union beside them."""


def branches(
    node: JsonObject, context: RewriteContext, progress: Progress, list_variants: ListVariants
) -> tuple[list[Variant], Progress]:
    """Return the variants of all branches of `anyOf` or `oneOf`, each with what stands beside it.

    Other unions in the `allOf` beside it multiply them: those by which they would become too many are told as lost.
    """
    if "allOf" not in node:
        return _branches(node, context, progress, list_variants)
    dropped: list[Json] = []
    if _multiplied(node) > MULTIPLIED_BRANCHES:
        fewer, dropped = _with_fewer(node)
    if not dropped:
        found, after = _branches(node, context, progress, list_variants)
        if not any(variant.too_many for variant in found):
            return found, after
        fewer, dropped = _with_fewer(node)
        if not dropped:
            return found, after
    for member in dropped:
        progress = progress.lose_all(member, "would make more alternatives than can be kept apart")
    found, progress = _branches(fewer, context, progress.derive(fewer, node), list_variants)
    return [variant.after([note("allOf", dropped)]) for variant in found], progress


def _branches(
    node: JsonObject, context: RewriteContext, progress: Progress, list_variants: ListVariants
) -> tuple[list[Variant], Progress]:
    keyword = "anyOf" if "anyOf" in node else "oneOf"
    listed = as_array(node[keyword])
    beside: JsonObject = {name: node[name] for name in node if name != keyword and name not in _NOT_BESIDE}
    if beside:
        progress = progress.derive(beside, node)
        if len(listed) > 1 and not HOLDERS.isdisjoint(beside):
            context = replace(context, copying=True)
    found: list[Variant] = []
    schemas: list[Json] = []
    for branch in listed:
        schema = branch
        if beside:
            schema, progress = intersected([beside, branch], progress)
        schemas.append(schema)
        each, progress = list_variants(schema, context, progress)
        found += [_named(variant, branch) for variant in each] if isinstance(branch, dict) else each
        if len(found) > UNION_VARIANTS or any(variant.too_many for variant in each):
            variant, progress = anything.anything_variant(context, node, "has more alternatives than can be kept apart", progress)
            return [replace(variant, too_many=True)], progress
    if keyword == "oneOf" and not _exclusive(schemas, context):
        reason = "is said as anyOf; that exactly one holds is checked when the answer is lifted"
        progress = progress.lose(node, "oneOf", reason=reason)
    if (
        context.dialect.unions == "choice"
        and len(found) > 1
        and any(variant.kind in {"object", "array", "ref"} for variant in found)
    ):
        progress = progress.lose(node, keyword, "part", "is a choice by name, and what it names may be missing")
    return found, progress


def _named(variant: Variant, branch: JsonObject) -> Variant:
    """Return a variant with the description and the title of its branch, unless it has its own."""
    text, title = branch.get("description"), branch.get("title")
    text = variant.text or (text if isinstance(text, str) else None)
    title = variant.title or (title if isinstance(title, str) else None)
    return variant if text == variant.text and title == variant.title else replace(variant, text=text, title=title)


def _exclusive(schemas: Sequence[Json], context: RewriteContext) -> bool:
    """Say whether no value satisfies two of the schemas, so that `anyOf` says the same as `oneOf`."""
    if len(schemas) > COMPARED_VARIANTS:
        return False
    return all(disjoint(left, right, resolve=context.target) for left, right in combinations(schemas, 2))


def _multiplied(node: JsonObject) -> int:
    """Return how many branches a union has with those beside it."""
    return prod(map(_alternatives, as_array(node["allOf"])), start=_alternatives(node))


def _with_fewer(node: JsonObject) -> tuple[JsonObject, list[Json]]:
    """Return a union without those beside it that would multiply its branches to many, and these."""
    many = _alternatives(node)
    kept: list[Json] = []
    dropped: list[Json] = []
    for member in as_array(node["allOf"]):
        factor = _alternatives(member)
        if factor == 1 or many * factor <= COMPARED_VARIANTS:
            many *= factor
            kept.append(member)
        else:
            dropped.append(member)
    fewer: JsonObject = {name: value for name, value in node.items() if name != "allOf"} | ({"allOf": kept} if kept else {})
    return fewer, dropped


def _alternatives(schema: Json) -> int:
    """Return by how much a schema multiplies the branches of a union beside it."""
    lists = [schema[word] for word in ("anyOf", "oneOf") if word in schema] if isinstance(schema, dict) else []
    return prod(len(as_array(each)) for each in lists)
