"""The nearest names of a misspelt one."""

from __future__ import annotations

from time import process_time

import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st

import instrc
from instrc import CompileError
from instrc.problems.suggest import comparison_key, nearest, surely  # words and letters without a program

NAMES = ("FindSlot", "fetch_availability", "identify-participants", "Draft", "Confirm_User", "найти_слот")


@every_case(
    ("word", "expected"),
    [
        ("FindSlto", "FindSlot"),
        ("find_slot", "FindSlot"),
        ("fetchAvailabilty", "fetch_availability"),
        ("IdentifyParticipants1", "identify-participants"),
        ("draft_", "Draft"),
        ("найтиСлто", "найти_слот"),
        ("Confirm", "Confirm_User"),
        ("SlotFind", "FindSlot"),
    ],
)
def test_a_misspelt_name_finds_the_one_that_was_meant(word: str, expected: str) -> None:
    assert nearest(word, NAMES)[0] == expected


@every_case("word", ["", "zzz", "Weather", "ы"])
def test_a_word_that_resembles_nothing_gets_no_suggestion(word: str) -> None:
    assert nearest(word, NAMES) == ()


def test_a_suffix_that_two_names_have_does_not_make_them_alike() -> None:
    known = ("RunPlan_Activity", "Refine_Mixin", "Send_Activity", "Confirm_User")
    assert nearest("Refund_Activity", known) == ()
    assert nearest("Snd_Activity", known) == ("Send_Activity",)
    assert nearest("Send_Activty", known) == ("Send_Activity",)


def test_the_likeliest_comes_first_and_equal_ones_keep_their_order() -> None:
    assert nearest("draft", ["Drafts", "Draft", "DRAFT", "Crafts"], limit=3) == ("Draft", "DRAFT", "Drafts")


def test_no_candidates_give_no_suggestion() -> None:
    assert nearest("Draft", []) == ()


def test_ten_thousand_alike_candidates_still_put_the_exact_one_first() -> None:
    names = [f"instruction_number_{n}" for n in range(10_000)]
    assert nearest("InstructionNumber7421", names)[0] == "instruction_number_7421"


@given(st.lists(st.text(min_size=1, max_size=12), max_size=20), st.text(max_size=12), st.integers(0, 5))
def test_suggestions_are_candidates_without_repetition_within_the_limit(names: list[str], word: str, limit: int) -> None:
    found = nearest(word, names, limit)
    assert len(found) == len(set(found)) <= limit
    assert set(found) <= set(names)


@given(st.text("abcdeБв", min_size=4, max_size=12), st.data())
def test_one_slip_in_a_longer_word_is_always_found(word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word) - 1))
    slip = word[:place] + word[place + 1 :]
    assert word in nearest(slip, [word, "zzzzzz"])
    assert comparison_key(word) == comparison_key(word.upper()) or "ß" in word


def test_names_that_cannot_be_read_here_do_not_crowd_out_others() -> None:
    assert nearest("Drafft", ("Draft", "Drafty"), without=frozenset({"Draft"})) == ("Drafty",)
    assert nearest("Draft", (*NAMES, "Draft"), without=frozenset(NAMES)) == ()


def test_a_thousand_unknown_names_are_looked_up_in_a_moment() -> None:
    program = "".join(f"const s{number} = Nobody(s{number - 1});\n" for number in range(1, 1000))
    start = process_time()
    with pytest.raises(CompileError):
        instrc.compile(program)
    assert process_time() - start < 3  # 0.4; an index of all names made anew for each took 10


@every_case(
    ("word", "name", "sure"),
    [
        ("Darft", "Draft", True),
        ("minLenght", "minLength", True),
        ("propertys", "properties", True),
        ("Send", "Send_Activity", True),
        ("elsewhere", "else", False),
        ("answeredTell", "answer", False),
        ("desc", "description", False),
    ],
)
def test_one_name_alone_is_beyond_doubt_only_if_few_letters_differ(word: str, name: str, *, sure: bool) -> None:
    assert surely(word, (name,)) is sure
