"""Keep a reference, write out what it stands for, or refuse it: only recursive ones are left in a flat schema."""

from __future__ import annotations

from collections.abc import Hashable

from msgspec.structs import replace

from instrc.dialects.words import DEFINITION_NAME
from instrc.ir.codec import RefCodec
from instrc.jsonvalue import JsonObject, as_text, freeze, optional_text
from instrc.limits.payloads import ACTIVE_REFERENCES, PAYLOAD_DEFINITIONS, UNROLLED_SCHEMAS
from instrc.lowering.context import ListVariants, Progress, RewriteContext, intersected
from instrc.lowering.definitions import referring
from instrc.lowering.ledger import place_of
from instrc.lowering.names import legal, unique_name
from instrc.lowering.rewrites import anything
from instrc.lowering.rewrites.combine import SILENT, combine, fit
from instrc.lowering.variants import Variant
from instrc.problems.problem import CompileError
from instrc.problems.targets import RecursiveForTarget
from instrc.schema.vocabulary import NO_ASSERTIONS


def references(
    node: JsonObject, context: RewriteContext, progress: Progress, list_variants: ListVariants
) -> tuple[list[Variant], Progress]:
    """Return the variants of what a schema refers to, together with what stands beside the reference."""
    ref = as_text(node["$ref"])
    target = context.target(ref)
    siblings: JsonObject = {
        keyword: value for keyword, value in node.items() if keyword != "$ref" and keyword not in NO_ASSERTIONS
    }
    if target is False or (not siblings and (not isinstance(target, dict) or not target)):
        return list_variants(target, context, progress)
    target = target if isinstance(target, dict) else {}
    key: Hashable = (ref, freeze(siblings)) if siblings else ref
    if siblings:
        asserted: JsonObject = {name: value for name, value in target.items() if name not in SILENT}
        progress = progress.derive(siblings, node).derive(asserted, target)
        intersection, progress = intersected([asserted, siblings], progress)
        if not isinstance(intersection, dict):
            return list_variants(intersection, context, progress)
        target = intersection
    if context.recursion == "refuse":
        place = place_of(context.root, progress.log, node, "$ref")
        raise CompileError([RecursiveForTarget(target=context.dialect.name, pointer=place, reference=ref)])
    if context.recursion == "keep":
        variant, progress = _definition(key, ref, target, context, progress, list_variants)
        return [variant], progress
    return _unrolled(key, target, context, progress, list_variants)


def _unrolled(
    key: Hashable, target: JsonObject, context: RewriteContext, progress: Progress, list_variants: ListVariants
) -> tuple[list[Variant], Progress]:
    """Write out what a reference stands for, up to a number of times."""
    often = context.active.count(key) >= context.unroll
    if often or progress.unrolled > UNROLLED_SCHEMAS or len(context.active) > ACTIVE_REFERENCES:
        reason = f"is unrolled {context.unroll} times and written as JSON text below that"
        variant, progress = anything.anything_variant(context, target, reason, progress)
        return [variant], progress
    found, progress = list_variants(target, replace(context, active=(*context.active, key)), progress)
    text = optional_text(target.get("description"))
    return [replace(variant, text=variant.text or text) for variant in found], progress


def _definition(
    key: Hashable, ref: str, target: JsonObject, context: RewriteContext, progress: Progress, list_variants: ListVariants
) -> tuple[Variant, Progress]:
    """Return a reference to a definition of the payload, which is made on first sight."""
    definitions = progress.definitions
    name = definitions.names.get(key)
    if name is None:
        if len(definitions.names) >= PAYLOAD_DEFINITIONS:
            return anything.anything_variant(context, target, "needs more definitions than can be kept apart", progress)
        word = ref.rsplit("/", 1)[-1].replace("~1", "_").replace("~0", "_") if ref != "#" else "root"
        name = unique_name(legal(word, DEFINITION_NAME, "part"), set(definitions.names.values()), DEFINITION_NAME.most)
        progress = progress.with_definitions(definitions.begun(key, name))
        body, codec, progress = fit(target, replace(context, level=1), progress, list_variants)
        if body is None:  # too late to say that there is no such value: the reference may be in use
            variant, progress = anything.anything_variant(context, target, "cannot be satisfied", progress)
            body, codec, progress = combine(target, [variant], context, progress)
        progress = progress.with_definitions(progress.definitions.with_body(name, body, codec))
    return Variant("ref", referring(name), RefCodec(name), node=target), progress
