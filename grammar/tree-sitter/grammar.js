/**
 * The notation of `.aug` for editors that colour and fold with tree-sitter; it follows `../aug.lark`.
 *
 * It accepts what that grammar accepts, and more: a reserved word as a name, or a `(` at the beginning of a statement
 * that no `;` is before.  The compiler says what is wrong with these.
 */

const list = (rule) => seq(rule, repeat(seq(",", rule)), optional(","));
const WORDS = ["const", "let", "tool", "input", "true", "false", "null", "when", "each", "repeat", "try", "do"];

module.exports = grammar({
  name: "aug",
  word: ($) => $.name,
  extras: ($) => [/\s/, $.comment],
  supertypes: ($) => [$._expression],

  rules: {
    // `language` is a word only before a number, so both are one token
    program: ($) => seq(optional($.version), repeat($._statement)),
    version: () => token(prec(3, /language\s+-?[0-9][0-9.]*\s*;?/)),
    _statement: ($) => seq(choice($.binding, $.input, $._expression), optional(";")),
    binding: ($) =>
      seq(optional("tool"), optional(choice("const", "let")), field("name", $.name), "=", field("value", $._expression)),
    input: ($) => prec.right(seq("input", field("name", $.name), optional($.annotation))),

    _expression: ($) => choice($.pipe, $._term),
    pipe: ($) => prec.left(1, seq($._expression, "|", $._term)),
    _term: ($) =>
      choice(
        $.annotated, $.inline, $.group, $.name, $.uri, $.path, $.call, $.when, $.each, $.repeat, $.try, $.race, $.do,
        $.object, $.array, $._scalar,
      ),
    annotated: ($) => prec.left(10, seq($._term, $.annotation)),
    annotation: ($) => seq("@", choice($.string, $.object)),
    inline: ($) => seq("@", $.object),
    group: ($) => seq("(", $._expression, ")"),

    path: ($) => prec.left(20, seq(choice($.name, $.call, $.path), ".", field("member", $._member))),
    _member: ($) => choice($.name, $.metric, $.string, $.word),
    call: ($) => prec(20, seq(field("instruction", choice($.name, $.uri)), "(", optional(list($._argument)), ")")),
    _argument: ($) => choice($._expression, $.argument),
    argument: ($) => seq(field("label", choice($.name, $.word)), ":", field("value", $._expression)),

    block: ($) => seq("{", repeat1($._statement), "}"),
    when: ($) => prec.right(20, seq("when", $._condition, $.block, optional(seq("else", choice($.block, $.when))))),
    each: ($) =>
      prec.right(
        20,
        seq(
          "each",
          field("item", $.name),
          "in",
          choice($._subject, $.number),
          optional($.selection),
          $.block,
          optional(seq("until", $._condition)),
        ),
      ),
    selection: ($) => choice($._amount, seq("when", $._condition, optional($._amount))),
    _amount: ($) => seq(choice("max", "first"), choice($._subject, $.number)),
    repeat: ($) =>
      prec.right(
        20,
        seq(
          "repeat",
          optional(seq(field("item", $.name), "in", choice($._subject, $.number), optional($.selection))),
          $.block,
          optional(seq("from", $.object)),
          optional(seq("until", $._condition, repeat(choice(seq("max", $.number), seq("keep", $.number))))),
          optional(seq("else", $.block)),
        ),
      ),
    try: ($) => seq("try", $.block, "else", $.block),
    // `race` is a word only before a brace, so both are one token
    race: ($) =>
      prec.right(
        20,
        seq(alias(token(prec(2, /race\s*\{/)), "race"), repeat1($._statement), "}", repeat1(seq("or", $.block))),
      ),
    do: ($) => seq("do", $.block),

    _condition: ($) => prec.right(20, seq($._test, repeat(seq(choice("or", "and"), $._test)))),
    _test: ($) => choice($._subject, $.equals, $.compares, $.matches),
    equals: ($) => prec(30, seq($._subject, "is", optional("not"), choice($._scalar, $._subject))),
    compares: ($) => seq($._subject, choice("<", "<=", ">", ">="), choice($.number, $._subject)),
    matches: ($) => prec(30, seq($._subject, "@", $.object)),
    _subject: ($) => choice($.name, $.path),

    object: ($) => seq("{", optional(list(choice($.field, $.name))), "}"),
    field: ($) => seq(field("key", choice($.name, $.string, $.word)), ":", field("value", $._expression)),
    array: ($) => seq("[", optional(list($._expression)), "]"),

    _scalar: ($) => choice($.string, $.number, $.true, $.false, $.null),
    true: () => "true",
    false: () => "false",
    null: () => "null",
    word: () => choice(...WORDS),

    name: () => /[_\p{XID_Start}][\p{XID_Continue}]*/u,
    metric: () => /\$[\p{XID_Continue}]+/u,
    uri: () => token(prec(2, /aug:[^\s()\[\]{},;|@"']+/)),
    string: () => choice(/"([^"\\\r\n]|\\[^\r\n])*"/, /'([^'\\\r\n]|\\[^\r\n])*'/),
    number: () => /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/,
    comment: () => token(choice(/\/\/[^\r\n]*/, /\/\*[^*]*\*+([^\/*][^*]*\*+)*\//)),
  },
});
