"""Looking up names, following references: which root, which version, and never outside."""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from instrc import CompileError, Problem, problems
from instrc.schema.flattening.flatten import flatten
from instrc.vibes.registry import Registry
from instrc.vibes.retrieval import reference_registry

Files = Callable[[str, dict[str, str]], Path]
SCHEMA = '{"type": "object"}'


def titled(title: str) -> str:
    return f'{{"title": "{title}", "type": "object"}}'


def problem(registry: Registry, uri: str) -> Problem:
    with pytest.raises(CompileError) as caught:
        registry.load(uri)
    (found,) = caught.value.problems
    return found


def title(registry: Registry, uri: str) -> str:
    found = registry.load(uri).schema["title"]
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize("spelling", ["FindSlot", "findSlot", "find_slot", "find-slot", "FIND_SLOT", "f-i-n-d_slot"])
@pytest.mark.parametrize("file", ["FindSlot", "findSlot", "find_slot", "find-slot"])
def test_a_name_is_found_in_any_style(files: Files, spelling: str, file: str) -> None:
    registry = Registry([files("w", {f"a/b/{file}.vibe.json": SCHEMA})])
    assert registry.lookup(spelling) == (f"aug:a/b/{file}",)
    assert registry.load(registry.lookup(spelling)[0]).segment == file


def test_a_name_is_found_in_any_script_and_unicode_form(files: Files) -> None:
    registry = Registry([files("w", {"найти_и\u0306.vibe.json": SCHEMA})])
    assert registry.lookup("НайтиЙ") == registry.lookup("найти-и\u0306") == ("aug:найти_й",)
    assert registry.load("aug:найти_й").uri == "aug:найти_й"


def test_a_suffix_is_part_of_the_name(files: Files) -> None:
    registry = Registry([files("w", {"Fetch.vibe.json": SCHEMA, "Fetch_Activity.vibe.json": SCHEMA})])
    assert registry.lookup("Fetch") == ("aug:Fetch",)
    assert registry.lookup("fetchActivity") == ("aug:Fetch_Activity",)


def test_the_earliest_root_with_a_name_wins_even_over_a_newer_version(files: Files) -> None:
    first, second = files("1", {"x/Draft@1.vibe.json": titled("first")}), files("2", {"Draft@9.vibe.json": titled("second")})
    assert Registry([first, second]).lookup("draft") == ("aug:x/Draft",)
    assert Registry([second, first]).lookup("draft") == ("aug:Draft",)


def test_several_vibes_of_one_name_in_one_root_are_all_returned(files: Files) -> None:
    registry = Registry([files("w", {"b/draft.vibe.json": SCHEMA, "a/Draft@1.vibe.json": SCHEMA, "a/Draft@2.vibe.json": SCHEMA})])
    assert registry.lookup("Draft") == ("aug:a/Draft", "aug:b/draft")


def test_an_unknown_name_gives_nothing(files: Files) -> None:
    registry = Registry([files("w", {"draft.vibe.json": SCHEMA})])
    assert registry.lookup("nope") == registry.lookup("") == registry.lookup("../draft") == ()


def test_every_macro_is_found_pinned_and_evergreen() -> None:
    registry = Registry()
    for name in ("Introspect_Mixin", "Loop_Mixin", "SelfEvaluate_Mixin", "StartProcess", "LaunchProcess"):
        assert registry.lookup(name) == (f"aug:/vibes/macros/{name}",)
        pinned, evergreen = registry.load(f"aug:/vibes/macros/{name}:1"), registry.load(f"aug:vibes/macros/{name}")
        assert pinned is evergreen
        assert (pinned.uri, pinned.segment) == (f"aug:/vibes/macros/{name}:1", name)
        assert list(pinned.schema["properties"]) == pinned.schema["required"]


def test_a_workspace_vibe_shadows_the_library_but_a_leading_slash_sees_through(files: Files) -> None:
    registry = Registry([files("w", {"vibes/macros/StartProcess@1.vibe.json": titled("mine")})])
    assert title(registry, "aug:vibes/macros/StartProcess:1") == "mine"
    assert title(registry, "aug:/vibes/macros/StartProcess:1") == "Start a process"


def test_a_workspace_vibe_is_no_part_of_the_shared_library(files: Files) -> None:
    workspace, shared = files("w", {"a.vibe.json": SCHEMA}), files("s", {"b.vibe.json": SCHEMA})
    registry = Registry([workspace], [shared])
    assert registry.load("aug:b").uri == registry.load("aug:/b").uri == "aug:/b"
    assert problem(registry, "aug:/a").name == "unresolved-reference"


VERSIONS = {f"v/x{mark}.vibe.json": titled(mark) for mark in ("@1", "@1.4", "@1.10", "@1.9.9", "@2", "@10")}


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("aug:v/x", "@10"),
        ("aug:v/x:1", "@1"),
        ("aug:v/x:1.4", "@1.4"),
        ("aug:v/x?1", "@1.10"),
        ("aug:v/x?1.9", "@1.9.9"),
        ("aug:v/x?2", "@2"),
        ("aug:v/x:01", "@1"),
    ],
)
def test_a_version_is_pinned_ranged_or_evergreen(files: Files, reference: str, expected: str) -> None:
    assert title(Registry([files("w", VERSIONS)]), reference) == expected


def test_a_file_without_a_version_is_the_newest_but_has_no_number(files: Files) -> None:
    registry = Registry([files("w", VERSIONS | {"v/x.vibe.json": titled("plain")})])
    assert title(registry, "aug:v/x") == "plain"
    assert title(registry, "aug:v/x?1") == "@1.10"
    assert registry.load("aug:v/x").uri == "aug:v/x"
    only = Registry([files("o", {"x.vibe.json": SCHEMA})])
    found = problem(only, "aug:x:1")
    assert isinstance(found, problems.vibes.UnknownVersion)
    assert found.versions == ("",)
    assert problem(only, "aug:x?1").name == "unknown-version"


def test_an_unknown_version_lists_what_there_is_in_all_roots(files: Files) -> None:
    registry = Registry([files("w", VERSIONS)], [files("s", {"v/x@3.vibe.json": SCHEMA})])
    found = problem(registry, "aug:v/x:4")
    assert isinstance(found, problems.vibes.UnknownVersion)
    assert found.versions == ("1", "1.4", "1.9.9", "1.10", "2", "3", "10")
    assert found.hint
    assert "`:1.10`" in found.hint


def test_a_pinned_version_is_sought_in_later_roots_too(files: Files) -> None:
    registry = Registry([files("w", VERSIONS)], [files("s", {"v/x@3.vibe.json": titled("shared")})])
    assert title(registry, "aug:v/x:3") == "shared"
    assert title(registry, "aug:v/x") == "@10"


@pytest.mark.parametrize(
    "reference", ["aug:instructions/find-slto", "aug:find-slot", "aug:Instructions/find-slot:2", "aug:x/FindSlot"]
)
def test_a_reference_that_leads_nowhere_offers_what_was_meant(files: Files, reference: str) -> None:
    found = problem(Registry([files("w", {"instructions/find-slot.vibe.json": SCHEMA})]), reference)
    assert isinstance(found, problems.vibes.UnresolvedReference)
    assert found.nearest == ("aug:instructions/find-slot",)


def test_letters_count_in_references_on_every_platform(files: Files) -> None:
    registry = Registry([files("w", {"a/Draft.vibe.json": SCHEMA})])
    for spelling in ("aug:A/Draft", "aug:a/draft", "aug:a/Draft.vibe.json", "aug:a/Draft.vibe"):
        assert problem(registry, spelling).name == "unresolved-reference"


def test_the_same_vibe_is_the_same_object_under_any_spelling(files: Files) -> None:
    root = files("w", {"a/draft@2.vibe.json": SCHEMA})
    registry = Registry([root])
    spellings = ["aug:a/draft", "aug:a/draft:2", "aug:a/draft?2", "AUG:a/draft", "aug:a/dr%61ft", "aug:a/draft#x"]
    assert len({id(registry.load(uri)) for uri in spellings}) == 1
    assert len({id(registry.documents[uri]) for uri in spellings}) == 1
    assert registry.open(root / "a" / "draft@2.vibe.json") is registry.load("aug:a/draft")


def test_documents_hold_bare_schemas_and_say_why_one_is_missing(files: Files) -> None:
    registry = Registry([files("w", {"a.vibe.json": f'{{"schema": {SCHEMA}, "input": 1}}'})])
    assert registry.documents["aug:a"] == {"type": "object"}
    assert "aug:b" not in registry.documents
    assert registry.documents.get("aug:b") is None
    assert "aug:a" in list(registry.documents)
    assert len(registry.documents) == len(list(registry.documents))
    with pytest.raises(CompileError) as caught:
        ChainMap({}, registry.documents)["aug:b"]  # type: ignore[arg-type]
    assert caught.value.problems[0].name == "unresolved-reference"
    with pytest.raises(KeyError):
        registry.documents["https://example.org/dialect"]


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("aug:a:2", "unknown-version"),
        ("aug:broken", "invalid-vibe"),
        ("aug:nowhere", "unresolved-reference"),
        ("aug:../a", "forbidden-reference"),
        ("aug:a:x", "malformed-reference"),
        ("https://example.org/a", "forbidden-reference"),
    ],
)
def test_composing_says_what_is_wrong_with_a_reference_and_where(files: Files, reference: str, name: str) -> None:
    whole = f'{{"properties": {{"p": {{"$ref": "{reference}"}}}}}}'
    registry = Registry([files("w", {"a@1.vibe.json": SCHEMA, "broken.vibe.json": "[]", "it.vibe.json": whole})])
    with pytest.raises(CompileError) as caught:
        flatten(registry.load("aug:it").schema, registry.documents, base="aug:it", locate=registry.locate)
    (found,) = caught.value.problems
    assert found.name == name
    assert found.at is not None
    assert found.at.text in {f'"{reference}"', "["}


def test_composing_sees_one_vibe_under_all_its_spellings(files: Files) -> None:
    part = '{"properties": {"x": {"$anchor": "here", "type": "string"}}}'
    whole = '{"allOf": [{"$ref": "aug:a:1"}, {"properties": {"y": {"$ref": "aug:a#here"}, "z": {"$ref": "aug:a?1#x"}}}]}'
    registry = Registry([files("w", {"a@1.vibe.json": part, "it.vibe.json": whole})])
    flat = flatten(registry.load("aug:it").schema, registry.documents, base="aug:it")
    assert flat["properties"] == {key: {"type": "string"} for key in "xyz"}


def test_a_link_out_of_the_roots_is_never_followed(files: Files, tmp_path: Path) -> None:
    outside = files("outside", {"secret.vibe.json": titled("secret"), "deep/secret2.vibe.json": titled("secret")})
    root = files("w", {"a.vibe.json": SCHEMA})
    (root / "file.vibe.json").symlink_to(outside / "secret.vibe.json")
    (root / "folder").symlink_to(outside)
    (root / "up").symlink_to(tmp_path)
    registry = Registry([root])
    for uri in ("aug:file", "aug:folder/secret", "aug:folder/deep/secret2", "aug:up/outside/secret"):
        assert problem(registry, uri).name == "forbidden-reference"
    assert registry.lookup("secret") == registry.lookup("secret2") == ()
    assert "aug:folder/secret" not in registry.documents


def test_a_link_from_one_root_into_another_is_followed(files: Files) -> None:
    other = files("other", {"deep/there.vibe.json": titled("there")})
    root = files("w", {"a.vibe.json": SCHEMA})
    (root / "link").symlink_to(other / "deep")
    registry = Registry([root, other])
    assert title(registry, "aug:link/there") == "there"
    assert registry.lookup("there") == ("aug:link/there",)


def test_links_in_a_circle_end(files: Files) -> None:
    root = files("w", {"x/a.vibe.json": SCHEMA, "y/b.vibe.json": SCHEMA})
    (root / "x" / "to_y").symlink_to(root / "y")
    (root / "y" / "to_x").symlink_to(root / "x")
    (root / "self").symlink_to(root)
    (root / "dead.vibe.json").symlink_to(root / "nothing")
    registry = Registry([root])
    assert registry.lookup("a") == ("aug:x/a",)
    assert registry.lookup("b") == ("aug:y/b",)
    assert problem(registry, "aug:dead").name == "invalid-vibe"


def test_a_root_may_be_a_link_itself(files: Files, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(files("w", {"a.vibe.json": SCHEMA}))
    assert Registry([tmp_path / "alias"]).load("aug:a").source.name.endswith("alias/a.vibe.json")


def test_a_file_beside_a_root_with_a_like_name_is_outside(files: Files) -> None:
    root, other = files("w", {"a.vibe.json": SCHEMA}), files("w2", {"b.vibe.json": SCHEMA})
    (root / "b.vibe.json").symlink_to(other / "b.vibe.json")
    assert problem(Registry([root]), "aug:b").name == "forbidden-reference"


def test_hidden_folders_and_other_files_are_no_vibes(files: Files) -> None:
    names = [".git/a.vibe.json", ".a.vibe.json", "a.json", "a.vibe.json.bak", ".vibe.json", "a/x.txt"]
    assert list(Registry([files("w", dict.fromkeys(names, SCHEMA))], library=files("l", {})).uris()) == []


def test_roots_that_do_not_exist_are_empty(tmp_path: Path) -> None:
    assert Registry([tmp_path / "nowhere"]).lookup("draft") == ()


def test_indexing_reads_no_file(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry([files("w", {f"d{n % 7}/vibe_{n}.vibe.json": "not JSON" for n in range(50)})])

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr("builtins.open", refuse)
        assert registry.lookup("Vibe7") == ("aug:d0/vibe_7",)
        assert len(registry.names()) == 55
    assert problem(registry, "aug:d0/vibe_7").name == "invalid-vibe"


def test_following_a_reference_lists_only_the_folders_on_its_way(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry([files("w", {"a/b/x.vibe.json": SCHEMA, "c/d/y.vibe.json": SCHEMA})])
    listed: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr("os.scandir", lambda path: (listed.append(Path(path).name), scandir(path))[1])
    registry.load("aug:a/b/x")
    assert listed == ["w", "a", "b"]


def test_threads_see_the_same_vibes(files: Files) -> None:
    registry = Registry([files("w", {f"v{n}.vibe.json": SCHEMA for n in range(40)})])
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: registry.load(registry.lookup(f"V{n % 40}")[0]), range(400)))
    assert len({id(vibe) for vibe in found}) == 40


def test_validators_follow_aug_references_of_all_kinds(files: Files) -> None:
    from jsonschema import Draft202012Validator

    one = '{"properties":{"n":{"$anchor": "num", "type":"integer"}, "s": {"$ref": "#/$defs/t"}}, "$defs":{"t":{"type":"string"}}}'
    two = '{"schema": {"$ref": "aug:one#/properties/s", "minLength": 2}}'
    registry = Registry([files("w", {"one@3.vibe.json": one, "d/two.vibe.json": two})])
    for reference, good, bad in [
        ("aug:one:3", {"n": 1, "s": "x"}, {"s": 1}),
        ("aug:one#num", 1, "x"),
        ("aug:one?3#s", "x", 1),
        ("aug:one#n", 1, "x"),
        ("aug:d/two", "xy", "x"),
        ("aug:/vibes/macros/Loop_Mixin#_iteration", 1, 0),
    ]:
        validator = Draft202012Validator({"$ref": reference}, registry=reference_registry(registry))
        assert validator.is_valid(good)
        assert not validator.is_valid(bad)


@pytest.mark.parametrize(
    ("reference", "close"),
    [
        ("#/$defs/y", ("year",)),
        ("#/$defs/yaer", ("year",)),
        ("aug:dates#yaer", ("#/$defs/year",)),
        ("aug:dates#firts", ("first",)),
        ("aug:dates#/$defs/ye", ("year",)),
        ("aug:dates#nothing", ()),
    ],
)
def test_a_reference_that_leads_nowhere_offers_what_is_there(files: Files, reference: str, close: tuple[str, ...]) -> None:
    there = '"$defs": {"year": {"type": "string"}}'
    held = f'{{"properties": {{"a": {{"$ref": "{reference}"}}}}, {there}}}'
    folder = files("w", {"dates.vibe.json": f'{{"properties": {{"first": true}}, {there}}}', "held.vibe.json": held})
    registry = Registry([folder])
    with pytest.raises(CompileError) as caught:
        flatten({"$ref": "aug:held"}, documents=registry.documents)
    (found,) = caught.value.problems
    assert isinstance(found, problems.vibes.UnresolvedReference)
    assert found.nearest == close


def test_a_folder_is_known_by_its_own_path_and_not_by_that_of_a_link_to_it(files: Files) -> None:
    root = files("w", {"real/a.vibe.json": SCHEMA})
    (root / "alias").symlink_to(root / "real")
    assert list(Registry([root], library=files("l", {})).uris()) == ["aug:real/a"]
