"""List the ways in which a value of a schema can be written for a target: the one walker, which the rewrites call back.

Whatever the target has no word for is noted as lost, and goes into the description.
"""

from __future__ import annotations

from instrc.jsonvalue import Json, JsonObject, as_array, as_texts
from instrc.limits.payloads import BRANCH_COPIES, REBUILT_LEVELS
from instrc.lowering.context import Progress, RewriteContext, intersected, said
from instrc.lowering.notes import note
from instrc.lowering.rewrites import anything, arrays, literals, objects, plans, references, scalars, unions
from instrc.lowering.variants import Variant, null_variant
from instrc.schema.maybe_impossible import forbids_everything
from instrc.schema.vocabulary import BY_TYPE

_APPLICATORS = ("not", "if", "then", "else")
_SPLIT = frozenset({"allOf", "$ref", *_APPLICATORS})
"""Keywords of a schema that is more than its types or its literals."""


def list_variants(node: Json, context: RewriteContext, progress: Progress) -> tuple[list[Variant], Progress]:
    """Return the ways in which a value of a schema can be written; none if there is no such value."""
    if not isinstance(node, dict) or not node:
        return ([] if node is False else [anything.anything(context.dialect, node)]), progress
    if "not" in node and forbids_everything(node):
        return [], progress
    if context.nested >= REBUILT_LEVELS:
        variant, progress = anything.anything_variant(context, node, "is nested too deeply", progress)
        return [variant], progress
    if context.active:
        progress = progress.unrolling()
    if context.copying:
        progress = progress.copying()
        if progress.copied > BRANCH_COPIES:
            variant, progress = anything.anything_variant(context, node, "stands in too many branches of unions", progress)
            return [variant], progress
    if _SPLIT.isdisjoint(node):
        return _plain(node, context, progress)
    if "allOf" in node:
        folded, progress = _conjoined(node, progress)
        if not isinstance(folded, dict) or not folded:
            return list_variants(folded, context.beside(), progress)
        node = folded
    if "$ref" in node:
        return references.references(node, context.beside(), progress, list_variants)
    notes: list[str] = []
    for keyword in _APPLICATORS:
        if keyword in node and not is_vacuous(node, keyword):
            notes.append(said(node, keyword))
            progress = progress.lose(node, keyword)
    found, progress = _plain(node, context, progress)
    for member in as_array(node.get("allOf", [])) if "anyOf" not in node and "oneOf" not in node else ():
        progress = progress.lose_all(member, "cannot be folded with what stands beside it")
        notes.append(note("allOf", [member]))
    return [variant.after(notes) for variant in found], progress


def _plain(node: JsonObject, context: RewriteContext, progress: Progress) -> tuple[list[Variant], Progress]:
    """Return the variants of a schema by its union, its literals or its types."""
    if "anyOf" in node or "oneOf" in node:
        found, progress = unions.branches(node, context.beside(), progress, list_variants)
        return [variant if variant.node is not None else variant.of(node) for variant in found], progress
    if "enum" in node or "const" in node:
        return literals.literals(node, context, progress)
    types = node.get("type")
    if isinstance(types, str):
        kinds = [types]
    elif types is not None:
        kinds = as_texts(types)
        if "number" in kinds and "integer" in kinds:
            kinds.remove("integer")
    else:
        kinds = [kind for kind, keywords in BY_TYPE.items() if not keywords.isdisjoint(node)]
        if not kinds:
            return [anything.anything(context.dialect, node)], progress
        reason = f"is not given, so what speaks of {' and '.join(kinds)} is taken for it"
        progress = progress.lose(node, "type", "narrowed", reason)
    found = []
    for kind in kinds:
        variant, progress = _of_type(kind, node, context, progress)
        if variant is not None:
            found.append(variant if variant.node is node else variant.of(node))
    return found, progress


def _of_type(kind: str, node: JsonObject, context: RewriteContext, progress: Progress) -> tuple[Variant | None, Progress]:
    """Return the variant of a schema for one of its types; `None` if it has no such value."""
    match kind:
        case "string":
            return scalars.strings(node, context.dialect, progress)
        case "object":
            return objects.objects(node, context, progress, list_variants)
        case "integer" | "number":
            return scalars.numbers(node, kind, context.dialect, progress)
        case "array":
            reason = plans.reason_for_uniform(node, context)
            if reason and (branches := plans.branches_of(node)) is not None:
                return plans.uniform(node, branches, reason, context, progress, list_variants)
            return arrays.arrays(node, context, progress, list_variants)
        case "boolean":
            return Variant("boolean", {"type": "boolean"}, node=node), progress
        case "null":
            return null_variant(node), progress
        case _:
            return anything.anything(context.dialect, node), progress


def is_vacuous(node: JsonObject, keyword: str) -> bool:
    """Say whether a keyword does nothing where it stands."""
    value = node[keyword]
    if keyword == "not":
        return value is False
    if keyword == "if":
        return node.get("then", True) in (True, {}) and node.get("else", True) in (True, {})
    return "if" not in node or value in (True, {})


def _conjoined(node: JsonObject, progress: Progress) -> tuple[Json, Progress]:
    """Fold the members of `allOf` into the schema around them; members that clash stay in an `allOf`."""
    rest: JsonObject = {keyword: value for keyword, value in node.items() if keyword != "allOf"}
    return intersected([rest, *as_array(node["allOf"])], progress.derive(rest, node))
