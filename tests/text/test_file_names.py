"""Names of files that every file system takes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from instrc.text.names import file_name

RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³")}


def test_what_every_file_system_takes_stays_as_it_is() -> None:
    for name in ("say_hello", "Приветствие", "a.b", ".hidden", "console", "com10"):
        assert file_name(name) == name


def test_names_that_windows_keeps_for_itself_are_changed() -> None:
    assert [file_name(name) for name in ("con", "NUL", "com1", "LPT9.x", "aux.b.c")] == [
        "con_",
        "NUL_",
        "com1_",
        "LPT9_.x",
        "aux_.b.c",
    ]
    assert file_name('a/b\\c:d*e?f"g<h>i|j') == "a_b_c_d_e_f_g_h_i_j"
    assert file_name("name. .") == "name"
    assert file_name("...") == "_"
    assert file_name("") == "_"


def test_a_long_name_is_cut_and_stays_unique() -> None:
    first, second = file_name("ж" * 200), file_name("ж" * 201)
    assert first != second
    assert first.startswith("ж" * 70)
    assert max(len(first.encode()), len(second.encode())) <= 160
    assert file_name("a" * 160) == "a" * 160


@given(st.text())
def test_every_name_becomes_one_that_is_taken(name: str) -> None:
    made = file_name(name)
    assert 0 < len(made.encode()) <= 161
    assert not set(made) & set('<>:"/\\|?*\0')
    assert made.partition(".")[0].lower() not in RESERVED
    assert made[-1] not in ". "
    assert file_name(made) == made
