from __future__ import annotations

import unicodedata

from every_case import every_case
from programs import bare

from instrc import Report, Source
from instrc.language.parser import parse
from instrc.language.surface import Anonymous, Array, Binding, Call, Input, Literal, Name, Object, Pipe, Program, Uri


def parsed(text: str) -> Program:
    report = Report()
    program = parse(Source("good.aug", text), report)
    assert [(problem.name, problem.at) for problem in report.problems] == []
    return program


def only(text: str) -> object:
    (statement,) = parsed(text).statements
    assert isinstance(statement, Anonymous)
    return statement.value


@every_case("text", ["", " \n\t", "// nothing", "/* nothing */", "\u00a0\u2003"])
def test_an_empty_source_is_an_empty_program(text: str) -> None:
    assert parsed(text).statements == ()


@every_case(
    ("one", "other"),
    [
        ("A; B; C", "A B C"),
        ("A; B; C;", "A\nB\r\nC"),
        ("A(b)", "A\n(b)"),
        ("A | B", "A\n  |B"),
        ("const a = A", "let a=A"),
        ("const a = A", "a = A"),
        ("tool a = A", "tool const a = A"),
        ("tool a = A", "tool let a = A"),
        ("A(b, c)", "A(b, c,)"),
        ("A({ b })", "A({ b, })"),
        ("[a, b]", "[a, b,]"),
        ("'a\"b'", r'"a\"b"'),
        (r"'it\'s'", '"it\'s"'),
        (r'"\ud83d\ude00\u0416"', '"😀Ж"'),
        ('{ "a": b }', "{ a: b }"),
        ('{ "const": 1 }', "{ const: 1 }"),
        ("(A | B)", "A | B"),
        ("((A))", "A"),
        ("A /* x */ | // y\n B", "A | B"),
        ("A @ { type: 'x', b: [1, { c: null }] }", 'A@{"type":"x","b":[1,{"c":null,},],}'),
    ],
)
def test_two_ways_to_write_one_program(one: str, other: str) -> None:
    assert bare(parsed(one).statements) == bare(parsed(other).statements)


@every_case("word", ["const", "let", "tool", "input", "true", "false", "null", "when", "each"])
def test_words_of_the_language_are_free_as_keys_and_labels(word: str) -> None:
    call = only(f"f({word}: 1, {{ {word}: 2 }})")
    assert isinstance(call, Call)
    assert call.arguments[0].label == word
    assert isinstance(call.arguments[1].value, Object)
    assert call.arguments[1].value.fields[0].key == word


def test_a_name_that_begins_like_a_keyword_is_a_name() -> None:
    assert bare(only("constant | inputs | toolbox | nullable | trueish | let_ | whenever")) == bare(
        only("constant|inputs|toolbox|nullable|trueish|let_|whenever")
    )


def test_names_are_normalised_and_their_places_are_not_shifted() -> None:
    name = unicodedata.normalize("NFD", "Йод")
    assert len(name) == 4
    program = parsed(f"const {name} = Ё; {name}(x)")
    binding, anonymous = program.statements
    assert isinstance(binding, Binding)
    assert isinstance(anonymous, Anonymous)
    assert isinstance(anonymous.value, Call)
    assert binding.name.text == anonymous.value.callee.text == unicodedata.normalize("NFC", name)
    assert binding.name.span.text == anonymous.value.callee.span.text == name


@every_case("name", ["Найти_слот", "नमस्ते", "名前", "ñ", "ª", "x·y", "Ⅷ", "𝒳", "_", "a1"])
def test_names_are_identifiers_of_any_script(name: str) -> None:
    value = only(name)
    assert isinstance(value, Name)
    assert value.text == unicodedata.normalize("NFC", name)


@every_case("uri", ["aug:/a/b:1#frag", "aug:~branch/x", "aug:a?1", "aug:a/b@2".replace("@", "-"), "aug:a//b", "aug:найти"])
def test_a_reference_is_one_word(uri: str) -> None:
    call = only(f"{uri}(x)")
    assert isinstance(call, Call)
    assert isinstance(call.callee, Uri)
    assert call.callee.text == uri


@every_case("end", [" ", ")", "]", "}", ",", ";", "|B", '@"x"', "(y)", "\n"])
def test_a_reference_ends_at_white_space_or_a_sign(end: str) -> None:
    before = {")": "(", "]": "[", "}": "{ a: ", ",": "["}.get(end, "")
    after = "]" if end == "," else ""
    tree = repr(bare(parsed(f"{before}aug:a/b{end}{after}")))
    assert "'aug:a/b'" in tree


def test_in_braces_aug_can_be_a_key() -> None:
    value = only("{ aug:b, x: aug:c }")
    assert isinstance(value, Object)
    assert [field.key for field in value.fields] == ["aug", "x"]
    assert isinstance(value.fields[0].value, Name)
    assert isinstance(value.fields[1].value, Uri)


def test_behind_aug_as_a_key_the_text_goes_on() -> None:
    value = only('{ aug:/* c: d */b, // e\n x: aug:c, aug_2: "aug:d", y: F(aug:g) }')
    assert isinstance(value, Object)
    assert [field.key for field in value.fields] == ["aug", "x", "aug_2", "y"]


def test_statements_alike_stay_apart_in_every_place() -> None:
    text = "".join(f"const a{i} = A(x); b{i} = do {{ const c = A(x); B(c) }};\n" for i in range(3))
    spans = [(each.name.text, each.span.start) for each in parsed(text).statements if isinstance(each, Binding)]
    assert spans == [(f"{name}{i}", i * len(text) // 3 + at) for i in range(3) for name, at in (("a", 0), ("b", 17))]


@every_case(
    ("text", "value"),
    [
        ("0", 0),
        ("-1", -1),
        ("1.50", 1.5),
        ("-0.0", -0.0),
        ("1e3", 1000.0),
        ("2E-2", 0.02),
        ("9" * 100, int("9" * 100)),
        ("true", True),
        ("null", None),
    ],
)
def test_literals_have_the_values_of_json(text: str, value: object) -> None:
    literal = only(text)
    assert isinstance(literal, Literal)
    assert (type(literal.value), repr(literal.value)) == (type(value), repr(value))


def test_a_leading_string_is_the_first_stage() -> None:
    pipe = only('"goal" | A | B(x)')
    assert isinstance(pipe, Pipe)
    assert isinstance(pipe.stages[0], Literal)
    assert len(pipe.stages) == 3


def test_several_annotations_nest_the_first_innermost() -> None:
    assert bare(only('A @ "x" @ { y: 1 }')) == bare(only('(A @ "x") @ { y: 1 }'))


def test_inputs_carry_what_describes_them() -> None:
    plain, described, typed = parsed('input a input b @ "B" input c @ { type: "string" }').statements
    assert isinstance(plain, Input)
    assert isinstance(described, Input)
    assert isinstance(typed, Input)
    assert (plain.annotation, described.annotation, typed.annotation) == (None, "B", {"type": "string"})


def test_comments_are_kept_in_order() -> None:
    program = parsed("// one\nA /* two\n */ | B(/**/) // three // still\n")
    assert [comment.text for comment in program.comments] == ["// one", "/* two\n */", "/**/", "// three // still"]


def test_every_node_knows_its_place() -> None:
    text = 'tool Letter = ("goal" | A(x: [1])) @ "warm" ; (B) | C'
    binding, anonymous = parsed(text).statements
    assert binding.span.text == 'tool Letter = ("goal" | A(x: [1])) @ "warm"'
    assert isinstance(binding, Binding)
    assert binding.value.span.text == '("goal" | A(x: [1])) @ "warm"'
    assert isinstance(anonymous, Anonymous)
    assert anonymous.span.text == anonymous.value.span.text == "(B) | C"
    array = only("[ 1 ,\n2 ]")
    assert isinstance(array, Array)
    assert [item.span.text for item in array.items] == ["1", "2"]


def test_brackets_are_read_as_deep_as_they_may_nest() -> None:
    for opening, closing in (("(", ")"), ("[", "]"), ("f(", ")"), ("{ a: ", "}")):
        assert len(parsed(opening * 256 + "x" + closing * 256).statements) == 1


def test_ten_thousand_steps_are_read() -> None:
    text = "\n".join(f"const step{number} = Step(step{number - 1});" for number in range(1, 10_001))
    assert len(parsed(text).statements) == 10_000
    (statement,) = parsed(" | ".join(["Step"] * 10_000)).statements
    assert isinstance(statement, Anonymous)
    assert isinstance(statement.value, Pipe)
    assert len(statement.value.stages) == 10_000
