"""Settings of a project, and the roots that belong to a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from every_case import every_case

from instrc import CompileError
from instrc.engines import hosts  # its engines are those of the settings
from instrc.problems.catalogue import page  # every problem and its page
from instrc.problems.errors import SettingsError
from instrc.problems.settings import InvalidSettings
from instrc.text.sentences import EN, LANGUAGES, NAMES, sentences_in  # every language has every sentence
from instrc.vibes.project import Project, ProjectContext
from instrc.vibes.settings import KEYS, SETTINGS_BYTES, EngineName, Settings, read_settings  # the names that the page lists

Files = Callable[[str, dict[str, str]], Path]
SCHEMA = '{"type": "object"}'


def wrong(files: Files, toml: str) -> tuple[InvalidSettings, ...]:
    with pytest.raises(SettingsError) as caught:
        read_settings(files("p", {"pyproject.toml": toml}))
    found = tuple(problem for problem in caught.value.problems if isinstance(problem, InvalidSettings))
    assert len(found) == len(caught.value.problems)
    return found


def test_the_nearest_pyproject_speaks_and_only_that(files: Files) -> None:
    files("p", {"pyproject.toml": '[tool.instrc]\nnaming = "camel"', "inner/pyproject.toml": "[project]", "inner/x/a.aug": ""})
    files("p", {"other/x/a.aug": ""})
    inner = files("p/inner/x", {})
    other = files("p/other/x", {})
    assert read_settings(inner).naming is None
    assert read_settings(other).naming == "camel"


def test_all_settings_are_read(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    toml = (
        '[tool.instrc]\nroots = ["v", "../w"]\nshared = ["s"]\nhint = "Смотри {paths}."\nnaming = "step"\nlimits = {source = 9}\n'
    )
    folder = files("p", {"pyproject.toml": toml, "v/x": "", "s/x": ""})
    files("w", {"x": ""})
    monkeypatch.chdir(folder)
    found = read_settings(Path())
    assert found == Settings(
        roots=(Path("v"), folder.parent / "w"),
        shared=(Path("s"),),
        hint="Смотри {paths}.",
        sentences=EN.changed({"hint": "Смотри {paths}."}),
        naming="step",
        limits={"source": 9},
        file=folder / "pyproject.toml",
    )


@pytest.mark.parametrize(
    "toml",
    [
        '[tool.instrc]\nnaming = "camel"',
        '[ tool . "instrc" ]\nnaming = "camel"',
        "[tool]\ninstrc.naming = 'camel'",
        "[tool]\n'instrc' = { naming = 'camel' }",
        "tool = { x = 1, instrc = { naming = 'camel' } }",
        "tool.instrc.naming = 'camel'",
        "tool.instrc\t.naming = 'camel'",
    ],
)
def test_settings_count_however_toml_spells_their_table(files: Files, toml: str) -> None:
    assert read_settings(files("p", {"pyproject.toml": toml})).naming == "camel"


def test_a_project_that_only_depends_on_us_has_no_settings_and_its_file_is_not_judged(files: Files) -> None:
    text = 'dependencies = ["instrc==1.0", "instrc[lsp]>=2", "instrc"]\n[[ no TOML'
    folder = files("p", {"pyproject.toml": text})
    assert read_settings(folder) == Settings(file=folder / "pyproject.toml")


def test_no_pyproject_and_none_of_ours_mean_no_settings(files: Files) -> None:
    assert read_settings(files("q", {"pyproject.toml": "not [[ TOML at all"})).roots == ()


@pytest.mark.parametrize(
    ("toml", "key", "line"),
    [
        ('[tool.instrc]\n\nroot = ["v"]', "root", 3),
        ('[tool.instrc]\nroots = "v"', "roots", 2),
        ("[tool.instrc]\nroots = [1]", "roots", 2),
        ('[tool.instrc]\nroots = ["nowhere"]', "roots", 2),
        ("[tool.instrc]\nhint = 1", "hint", 2),
        ('[tool.instrc]\nnaming = "kebab"', "naming", 2),
        ("[tool.instrc]\nlimits = 3", "limits", 2),
        ("[tool.instrc.limits]\nsource = 0", "limits.source", 2),
        ("[tool.instrc.limits]\nsource = true", "limits.source", 2),
        ("[tool.instrc.limits]\nsauce = 1", "limits.sauce", 2),
        ('[tool.instrc]\nhint = "Use {path}."', "hint", 2),
        ('[tool.instrc]\nroots = ["."]\nshared = [".", "."]', "shared", 3),
        ('[tool.instrc.checks]\ndraft = "checks.draft"', "checks.draft", 2),
        ('[tool.instrc.activities]\nbook = "activities"', "activities.book", 2),
        ("[tool.instrc.activities]\nbook = {}", "activities.book", 2),
        ('[tool.instrc.models]\n"judge/*" = ""', "models.judge/*", 2),
        ('[tool.instrc.prices]\n"gpt-5*" = {}', "prices.gpt-5*", 2),
        ('[tool.instrc.prices]\n"gpt-5*" = { input = 1, other = 1 }', "prices.gpt-5*", 2),
        ('[tool.instrc.prices]\n"gpt-5*" = { input = true }', "prices.gpt-5*", 2),
        ('[tool.instrc.prices]\n"gpt-5*" = { input = "1" }', "prices.gpt-5*", 2),
        ('[tool.instrc.prices]\n"gpt-5*" = { output = -1 }', "prices.gpt-5*", 2),
        ('[tool.instrc.prices]\n"gpt-5*" = { output = nan }', "prices.gpt-5*", 2),
        ('[tool.instrc.run]\nengine = "durabel"', "run.engine", 2),
        ('[tool.instrc.run]\nmodel = ""', "run.model", 2),
        ('[tool.instrc.run]\nstore = " "', "run.store", 2),
        ("[tool.instrc.run]\nmodel = []", "run.model", 2),
        ('[tool.instrc]\nprompts = "klingon"', "prompts", 2),
        ('[tool.instrc.prompts]\nknow = "x"', "prompts.know", 2),
        ('[tool.instrc.prompts]\nfaults = "x"', "prompts.faults", 2),
        ('[tool.instrc.prompts]\nwrite = "Write it."', "prompts.write", 2),
        ('[tool.instrc.prompts]\nknown = "So {far}:"', "prompts.known", 2),
        ("[tool.instrc.run]\ntemperature = -1", "run.temperature", 2),
        (f"[tool.instrc.run]\ntemperature = {10**400}", "run.temperature", 2),
        (f"[tool.instrc.run]\ntimeout = {10**400}", "run.timeout", 2),
        (f"[tool.instrc.run]\ncooldown = {10**400}", "run.cooldown", 2),
        (f'[tool.instrc.prices]\n"gpt-5*" = {{ output = {10**400} }}', "prices.gpt-5*", 2),
        ('[tool.instrc.prices]\n"gpt-5*" = { output = inf }', "prices.gpt-5*", 2),
        ("[tool.instrc.run]\nmax_tokens = 0", "run.max_tokens", 2),
        ('[tool.instrc.run]\ntimeout = "soon"', "run.timeout", 2),
        ('[tool.instrc.run]\nreasoning = "hi"', "run.reasoning", 2),
        ("[tool.instrc.run]\nattempts = true", "run.attempts", 2),
        ('[tool.instrc.models]\n"openai:*" = "openai:gpt-5"', "models.openai:*", 2),
        ('[tool.instrc.models]\n"openai:*" = { temprature = 1 }', "models.openai:*.temprature", 2),
        ("[tool.instrc.models]\njudge = { model = [1] }", "models.judge", 2),
        ('\n[instrc]\nhint = "x"', "instrc", 2),
        ('\n[tools.instrc]\nhint = "x"', "tools.instrc", 2),
        ('\n[tool.Instrc]\nhint = "x"', "tool.Instrc", 2),
        ("[tool]\ninstrc = 1", "tool.instrc", 2),
        ("[tool.instrc]\nhint = ", "", 2),
        ('[tool.instrc]\nhint = "Look at what is there."', "hint", 2),
        ("[tool.instrc]\n\n\nhint = 'x", "", 4),
    ],
)
def test_a_setting_that_cannot_be_used_is_said_with_its_place(files: Files, toml: str, key: str, line: int) -> None:
    (problem,) = wrong(files, toml)
    assert problem.key == key
    assert problem.at is not None
    assert problem.at.line == line
    assert problem.message


def test_a_misspelt_setting_gets_the_right_one(files: Files) -> None:
    first, second = wrong(files, '[tool.instrc]\nroot = ["v"]\nlimits = {sources = 1}')
    assert (first.nearest, second.nearest) == (("roots",), ("source",))


@pytest.mark.parametrize(
    ("toml", "place"),
    [
        ("strict = true", "`instrc check --strict`"),
        ('target = "openai"', "`instrc compile --target NAME`"),
        ('targets = ["openai"]', "`instrc compile --target NAME`"),
        ('emit = "tool"', "`instrc compile --emit NAME`"),
        ('engine = "durable"', "`[tool.instrc.run]`"),
        ("source = 1", "`[tool.instrc.limits]`"),
    ],
)
def test_an_option_that_is_no_setting_of_the_whole_is_told_with_its_place(files: Files, toml: str, place: str) -> None:
    (problem,) = wrong(files, f"[tool.instrc]\n{toml}")
    assert place in problem.message
    assert problem.nearest == ()


def test_a_settings_file_that_is_not_utf_8_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b'[tool.instrc]\nhint = "\xff"')
    with pytest.raises(SettingsError):
        read_settings(tmp_path)


def test_roots_come_in_order_command_line_beside_project_library(files: Files, tmp_path: Path) -> None:
    toml = '[tool.instrc]\nroots = ["r"]\nshared = ["s"]'
    files("p", {"pyproject.toml": toml, "r/x": "", "s/x": "", "schemas/x": "", "a.aug": ""})
    given, common = files("given", {}), files("common", {})
    registry = ProjectContext(Project((str(given),), (str(common),))).registry(tmp_path / "p" / "a.aug")
    assert [root.path.name for root in registry.roots] == ["given", "schemas", "r", "common", "s", "schemas"]
    assert [root.shared for root in registry.roots] == [False, False, False, True, True, True]


def test_a_vibe_in_a_schemas_folder_sees_its_neighbours(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = files("p", {"schemas/a/one.vibe.json": SCHEMA, "schemas/b/c/two.vibe.json": SCHEMA})
    monkeypatch.chdir(folder)
    for file in (Path("schemas/b/c/two.vibe.json"), folder / "schemas/b/c/two.vibe.json"):
        registry = ProjectContext().registry(file)
        assert registry.load("aug:a/one").uri == "aug:a/one"
        assert registry.open(file).uri == "aug:b/c/two"
    monkeypatch.chdir(folder / "schemas" / "b")
    assert ProjectContext().registry(Path("c/two.vibe.json")).load("aug:a/one").segment == "one"
    assert ProjectContext().registry(Path("schemas/x.vibe.json")).roots[0].path.name == "schemas"


def test_files_with_the_same_roots_share_one_registry(files: Files, tmp_path: Path) -> None:
    files("p", {"pyproject.toml": "[tool.instrc]\nroots = ['r']", "r/x": "", "a/1.aug": "", "b/2.aug": ""})
    surroundings = ProjectContext()
    one, two = (surroundings.registry(tmp_path / "p" / file) for file in ("a/1.aug", "b/2.aug"))
    assert one is two
    assert surroundings.settings(tmp_path / "p" / "a" / "1.aug").file == tmp_path / "p" / "pyproject.toml"


def test_a_root_on_the_command_line_must_be_a_folder(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        ProjectContext(Project((str(tmp_path / "nowhere"), "nul\0"))).registry(None)
    assert [problem.name for problem in caught.value.problems] == ["unreadable-file"] * 2


def test_a_limit_on_vibes_reaches_the_registry(files: Files, tmp_path: Path) -> None:
    files("p", {"pyproject.toml": "[tool.instrc]\nlimits = {vibe = 7}", "a.aug": ""})
    assert ProjectContext().registry(tmp_path / "p" / "a.aug").max_bytes == 7


@pytest.mark.parametrize(
    ("toml", "reason"),
    [
        ("[tool.instrc]\nlimits = { source = 9223372036854775807 }", "it must be a whole number from 1 to 2,000,000,000"),
        (f'[tool.instrc]\nroots = ["{"x" * 6000}"]', f"there is no folder `{'x' * 79}…`"),
        (f"[tool.instrc]\nroots = {'[' * 5000}", "it nests too deeply"),
        (f"[tool.instrc]\nlimits = {{ source = {'1' * 5000} }}", "it holds a number that is too long"),
        (f"[tool.instrc]\n{'a.' * 20_000}a = 1", "it has keys of too many parts"),
        (f"[tool.instrc]\n# {'x' * 1_100_000}", "it has over 1,048,576 bytes"),
    ],
    ids=["number", "long", "deep", "digits", "dots", "large"],
)
def test_hostile_settings_are_one_problem(files: Files, toml: str, reason: str) -> None:
    assert [problem.reason for problem in wrong(files, toml)] == [reason]


def test_settings_may_take_a_megabyte(files: Files) -> None:
    toml = '[tool.instrc]\nnaming = "camel"\n#'
    folder = files("p", {"pyproject.toml": toml + "x" * (SETTINGS_BYTES - len(toml))})
    assert read_settings(folder).naming == "camel"


@pytest.mark.parametrize("engine", get_args(EngineName))
def test_a_project_chooses_how_programs_run(files: Files, engine: str) -> None:
    run = {"engine": engine, "model": "anthropic:any", "store": "runs"}
    toml = "\n".join(["[tool.instrc.run]", *(f'{key} = "{value}"' for key, value in run.items())])
    assert read_settings(files("p", {"pyproject.toml": toml})).run == run


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.mkfifo, "it is a pipe"),
        (os.mkdir, "it is a folder"),
        (lambda path: path.symlink_to("pyproject.toml"), "too many levels of symbolic links"),
        (lambda path: path.symlink_to("nowhere"), "no such file or directory"),
    ],
    ids=["pipe", "folder", "link to itself", "link to nothing"],
)
def test_what_is_no_file_in_the_place_of_the_settings_is_told(files: Files, make: Callable[[Path], object], reason: str) -> None:
    folder = files("p", {"pyproject.toml": '[tool.instrc]\nnaming = "camel"', "inner/a.aug": ""})
    make(folder / "inner" / "pyproject.toml")
    with pytest.raises(SettingsError, match=f"the settings cannot be read: {reason}"):
        read_settings(folder / "inner")


def test_the_engines_that_the_settings_know_are_those_there_are() -> None:
    assert tuple(hosts.ENGINES) == get_args(EngineName)


@pytest.mark.parametrize("table", ["tool.instrk", "tool.intsrc", "tool.instr", "tool.instrcc.run", 'tool."instrx"'])
def test_a_table_with_one_letter_wrong_is_told(files: Files, table: str) -> None:
    (problem,) = wrong(files, f"[project]\nname = 'p'\n[{table}]\nhint = 'x'\n")
    assert problem.reason == "the settings are in the table `[tool.instrc]`"
    assert problem.at is not None
    assert problem.at.text in table


def test_a_similar_table_beside_ours_and_tables_of_others_are_left_alone(files: Files) -> None:
    assert read_settings(files("p", {"pyproject.toml": "[tool.isort]\nx = 1\n[tool.inst]\n[tool.instruct]\n"})).roots == ()
    assert read_settings(files("q", {"pyproject.toml": "[tool.instrc]\nnaming = 'camel'\n[tool.instrk]\n"})).naming == "camel"


def test_a_folder_is_a_root_or_shared_but_not_the_two(files: Files) -> None:
    folder = files("p", {"v/x": "", "pyproject.toml": '[tool.instrc]\nroots = ["v"]\nshared = ["./v"]\n'})
    with pytest.raises(SettingsError, match="is one of `roots` already"):
        read_settings(folder)


@pytest.mark.parametrize("key", ["roots", "shared", "keywords"])
def test_a_text_where_a_list_is_needed_is_shown_as_one(files: Files, key: str) -> None:
    (problem,) = wrong(files, f'[tool.instrc]\n{key} = "schemas"')
    assert problem.message.endswith(f': write `{key} = ["schemas"]`')


def test_the_page_of_wrong_settings_names_all_there_are() -> None:
    text = page(InvalidSettings)
    assert [name for name in KEYS if f"`{name}`" not in text] == []


def test_settings_of_requests_are_read_with_times_in_seconds(files: Files) -> None:
    run = '[tool.instrc.run]\nmodel = ["openai:a", "ollama:b"]\ntimeout = "60s"\ntotal_timeout = "PT5M"\nseed = -3\n'
    models = (
        '[tool.instrc.models]\njudge = { model = "openai:c", temperature = 0 }\n"openai:*" = { rpm = 5, extra = { top_p = 1 } }\n'
    )
    found = read_settings(files("p", {"pyproject.toml": run + models}))
    assert found.run == {"model": "openai:a, ollama:b", "timeout": 60.0, "total_timeout": 300.0, "seed": -3}
    assert found.models == {"judge": "openai:c"}
    assert found.requests == {"judge": {"temperature": 0}, "openai:*": {"rpm": 5, "extra": {"top_p": 1}}}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("judge = { rpm = 5 }", "it is a limit of a model"),
        ('"judge-*" = { model = "openai:a", cooldown = "5s" }', "it is a limit of a model"),
        ('"openai:*" = { extra = { since = 2026-01-01 } }', "it must be a table of the provider's own parameters"),
    ],
)
def test_settings_that_would_do_nothing_or_cannot_be_sent_are_refused(files: Files, said: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        read_settings(files("p", {"pyproject.toml": f"[tool.instrc.models]\n{said}\n"}))


def test_all_that_is_said_to_a_model_has_a_language_and_can_be_replaced(files: Files) -> None:
    said = '[tool.instrc]\nhint = "Смотри {paths}."\n[tool.instrc.prompts]\nlanguage = "ru"\nknown = "Дано:"\n'
    found = read_settings(files("p", {"pyproject.toml": said})).sentences
    assert (found.hint, found.known, found.join) == ("Смотри {paths}.", "Дано:", " и ")
    assert read_settings(files("q", {"pyproject.toml": '[tool.instrc]\nprompts = "ru"'})).sentences == sentences_in("ru")


@every_case("language", LANGUAGES)
def test_each_language_says_every_sentence_with_its_places(language: str) -> None:
    for name in NAMES:
        assert EN.fault_of(name, getattr(sentences_in(language), name)) is None
        assert language == "en" or getattr(sentences_in(language), name) != getattr(EN, name)


def test_each_language_says_every_note_with_its_place() -> None:
    assert sentences_in("ru").notes.keys() == EN.notes.keys()
    for name, note in sentences_in("ru").notes.items():
        assert note != EN.notes[name]
        assert ("{value}" in note) is ("{value}" in EN.notes[name])


def test_a_note_on_a_keyword_can_be_replaced(files: Files) -> None:
    said = '[tool.instrc.prompts]\nnotes = { maximum = "Up to {value}." }'
    notes = read_settings(files("p", {"pyproject.toml": said})).sentences.notes
    assert notes == {**EN.notes, "maximum": "Up to {value}."}
    with pytest.raises(SettingsError, match="minimum"):
        read_settings(files("q", {"pyproject.toml": '[tool.instrc.prompts]\nnotes = { minimun = "{value}" }'}))


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_service_has_a_language_of_its_pages(files: Files, language: str) -> None:
    folder = files("p", {"pyproject.toml": f'[tool.instrc.serve]\nlanguage = "{language}"\n'})
    assert read_settings(folder).service.language == language


def test_the_service_has_a_time_zone(files: Files) -> None:
    folder = files("p", {"pyproject.toml": '[tool.instrc.serve]\nzone = "Europe/Berlin"\n'})
    assert read_settings(folder).service.zone == "Europe/Berlin"


@pytest.mark.parametrize("said", ['"Europe/Nowhere"', '"../../etc/passwd"', '""', "5", '["UTC"]'])
def test_a_time_zone_that_is_none_is_refused(files: Files, said: str) -> None:
    folder = files("p", {"pyproject.toml": f"[tool.instrc.serve]\nzone = {said}\n"})
    with pytest.raises(SettingsError, match="Europe/Berlin"):
        read_settings(folder)


@pytest.mark.parametrize("said", ['"de"', '"RU"', '""', "5", '["ru"]'])
def test_a_language_without_pages_is_refused(files: Files, said: str) -> None:
    folder = files("p", {"pyproject.toml": f"[tool.instrc.serve]\nlanguage = {said}\n"})
    with pytest.raises(SettingsError, match="`en` or `ru`"):
        read_settings(folder)
