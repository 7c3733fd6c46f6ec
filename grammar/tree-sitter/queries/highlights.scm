(comment) @comment
(string) @string
(number) @number
[(true) (false) (null)] @constant.builtin
(uri) @string.special
(call instruction: (name) @function)
(field key: (_) @property)
(argument label: (_) @variable.parameter)
(path member: (_) @property)
(binding name: (name) @variable)
["tool" "const" "let" "input"] @keyword
["when" "else" "each" "in" "repeat" "until" "max" "first" "keep" "try" "race" "do" "is" "not" "or" "and" "from"] @keyword.control
["=" "|" "@" ":"] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" "."] @punctuation.delimiter
