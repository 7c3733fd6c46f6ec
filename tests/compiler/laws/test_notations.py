"""Three notations, one program; names and their places change nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st
from meaning import Chain, Step, Tree, compiled, places, registry, same, trees, write

from instrc.vibes.registry import Registry

QUICK = examples(150)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    folder: Path = tmp_path_factory.mktemp("vibes")
    return registry(folder)


def _consts(tree: Tree) -> str:
    """Write every call as a local name of its own, in the order of evaluation."""
    lines: list[str] = []
    known: dict[Tree, str] = {}
    for part in places(tree):
        if part not in known and part is not tree:
            lines.append(f"const v{len(known)} = {write(part, known)};")
            known[part] = f"v{len(known)}"
    return "\n".join([*lines, write(tree, known)])


@QUICK
@given(tree=trees(least=1, chains=False))
def test_calls_in_calls_pipes_and_local_names_are_one_program(tree: Tree, known: Registry) -> None:
    if _has_several_effects(tree):
        return
    nested = compiled(write(tree), known)
    assert same(nested, compiled(_consts(tree), known))


def _has_several_effects(tree: Tree) -> bool:
    """Return whether lines of their own would order effects of a program: then a name has a meaning."""
    return len(re.findall(r"_(?:Activity|User)\b|FindUser", write(tree))) > 1


@QUICK
@given(tree=trees(least=1, chains=False, mixins=False))
def test_a_first_argument_may_be_piped_in(tree: Tree, known: Registry) -> None:
    assert same(compiled(write(tree), known), compiled(write(tree, pipes=True), known))


@QUICK
@given(tree=trees(), data=st.data())
def test_naming_parts_changes_nothing(tree: Tree, data: st.DataObject, known: Registry) -> None:
    """Any names, any of the parts, in any order of their definitions."""
    if _has_several_effects(tree):
        return
    candidates = list(dict.fromkeys(part for part in places(tree) if part is not tree))
    chosen = data.draw(st.lists(st.sampled_from(candidates), unique=True)) if candidates else []
    names = data.draw(st.permutations([f"{letter}{i}" for i, letter in enumerate("pqrstuvwxyzпя" * 8)]))
    locals_ = dict(zip(chosen, names, strict=False))
    lines = [f"const {name} = {write(part, {k: v for k, v in locals_.items() if k != part})};" for part, name in locals_.items()]
    lines = data.draw(st.permutations(lines))
    assert same(compiled(write(tree), known), compiled("\n".join([*lines, write(tree, locals_)]), known))


@QUICK
@given(tree=trees(), options=st.fixed_dictionaries({"batch": st.integers(1, 3), "naming": st.sampled_from(["step", "camel"])}))
def test_what_is_exported_may_have_a_name_of_its_own(tree: Tree, options: dict[str, object], known: Registry) -> None:
    assert same(compiled(write(tree), known, **options), compiled(f"const all = {write(tree)}", known, **options))


def test_the_generator_makes_what_it_promises(known: Registry) -> None:
    tree = Chain((Step("Ma", (), ()), Step("Mb", ("", "x"), (Step("Mc", (), ()), Step("Ma", (), ())))))
    assert write(tree) == "(Ma() | Mb(Mc(), x: Ma()))"
    assert not isinstance(compiled(write(tree), known), set)
    assert compiled("Ma(Zzz)", known) == {"unknown-name"}
    assert not same(compiled("Ma", known), compiled("Mb", known))
