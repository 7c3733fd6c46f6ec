"""Generated processes: blocks in blocks, plans, failures; the answer to a command depends on its id alone."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from written_processes import TEXT, attempt, call, chunk, do, each, is_, otherwise, process, repeat, step, when

TOOLS = {name: {"activity": name, "arguments": {"properties": {"x": {}}}, "output": TEXT} for name in ("A", "B")}
NUMBERS = {"type": "object", "properties": {"text": {"type": "string"}, "list": {"type": "array"}}, "required": ["text", "list"]}


@st.composite
def processes(draw: st.DrawFn) -> dict[str, Any]:
    """A process whose paths all lead somewhere."""
    return process(**_Writer(draw).contexts(["prompt"], depth=0))


class _Writer:
    """Writes contexts; keys and contexts are numbered through."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.count = 0

    def number(self) -> int:
        self.count += 1
        return self.count

    def contexts(self, visible: list[str], depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        kinds = ["model", "server", "plan", "two"] + (["when", "each", "repeat", "over", "try", "do"] if depth < 2 else [])
        seen = list(visible)
        for kind in self.draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3)):
            made |= getattr(self, f"_{kind}")(seen, depth)
        return made

    def path(self, visible: list[str]) -> str:
        return self.draw(st.sampled_from(visible))

    def body(self, visible: list[str], depth: int, names: list[str]) -> tuple[dict[str, Any], str]:
        """Return contexts and the key of a step in them that always gives something."""
        seen = [*visible, *names]
        key = f"step{self.number()}_end"
        inside = self.contexts(seen, depth + 1)
        inside[f"llmContext{self.number()}"] = chunk(**{key: step(TEXT, self.path(seen))})
        return process(**inside), key

    def _model(self, visible: list[str], _depth: int) -> dict[str, Any]:
        key = f"step{self.number()}_ask"
        made = {f"llmContext{self.number()}": chunk(**{key: step(NUMBERS, self.path(visible))})}
        visible += [key, f"{key}.text", f"{key}.list"]
        return made

    def _server(self, visible: list[str], _depth: int) -> dict[str, Any]:
        first, second = f"step{self.number()}_call", f"step{self.number()}_next"
        path = self.path(visible)
        later = self.draw(st.sampled_from([path, first]))
        steps = {first: call("A", {"x": path}), second: call("B", {"x": later})}
        visible += [first, second]
        return {f"serverContext{self.number()}": chunk(**steps)}

    def _two(self, visible: list[str], _depth: int) -> dict[str, Any]:
        """A step that stands in two chunks."""
        key = f"step{self.number()}_both"
        inputs = step({"type": "object", "properties": {"q": {"type": "string"}}}, self.path(visible))
        answer = {"type": "object", "properties": {"output": TEXT}, "required": ["output"], "activity": "A", "arguments": key}
        visible += [f"{key}.output", key]
        return {f"llmContext{self.number()}": chunk(**{key: inputs}), f"serverContext{self.number()}": chunk(**{key: answer})}

    def _plan(self, visible: list[str], _depth: int) -> dict[str, Any]:
        act, run = f"step{self.number()}_plan", f"step{self.number()}_run_plan"
        planned = {"type": "object", "properties": {"plan": {"type": "array", "plan": {"tools": TOOLS}}}, "required": ["plan"]}
        made = {
            f"llmContext{self.number()}": chunk(**{act: step(planned, self.path(visible))}),
            f"serverContext{self.number()}": chunk(
                **{run: call("RunPlan_Activity", f"{act}.plan", {"type": "array"}, plan={"tools": TOOLS})}
            ),
        }
        visible.append(run)
        return made

    def _when(self, visible: list[str], depth: int) -> dict[str, Any]:
        first, value = self.body(visible, depth, [])
        second, other = self.body(visible, depth, [])
        key = f"step{self.number()}_when"
        condition = is_(self.path(visible), self.draw(st.sampled_from(["go", "x0", "x1"])))
        made = {f"whenContext{self.number()}": when((condition, first, value), (None, second, other), key=key)}
        visible.append(key)
        return made

    def _each(self, visible: list[str], depth: int) -> dict[str, Any]:
        item = f"item{self.number()}"
        inside, value = self.body(visible, depth, [item])
        key = f"step{self.number()}_each"
        lists = [path for path in visible if path.endswith(".list")]
        source = self.draw(st.sampled_from([*lists, 2]))
        made = {f"eachContext{self.number()}": each(item, source, inside, value=value, key=key)}
        visible.append(key)
        return made

    def _repeat(self, visible: list[str], depth: int) -> dict[str, Any]:
        inside, value = self.body(visible, depth, ["round", "previous", "rounds"])
        number, key = self.number(), f"step{self.number()}_repeat"
        until = is_(f"{value}.text", self.draw(st.sampled_from(["x0", "never"])))
        made = {f"repeatContext{number}": repeat(inside, until=until, most=2, value=value, key=key)}
        if self.draw(st.booleans()):
            second, other = self.body(visible, depth, ["rounds"])
            made[f"elseContext{self.number()}"] = otherwise(second, f"repeatContext{number}", value=other)
        visible.append(key)
        return made

    def _over(self, visible: list[str], depth: int) -> dict[str, Any]:
        item = f"item{self.number()}"
        inside, value = self.body(visible, depth, [item, "previous"])
        key = f"step{self.number()}_over"
        lists = [path for path in visible if path.endswith(".list")]
        source = self.draw(st.sampled_from([*lists, 2]))
        made = {f"repeatContext{self.number()}": repeat(inside, most=1000, item=item, value=value, key=key, **{"in": source})}
        visible.append(key)
        return made

    def _try(self, visible: list[str], depth: int) -> dict[str, Any]:
        first, value = self.body(visible, depth, [])
        risky = f"step{self.number()}_risky"
        first["properties"][f"serverContext{self.number()}"] = chunk(**{risky: call("Risky", {"x": value})})
        second, other = self.body(visible, depth, ["error"])
        key = f"step{self.number()}_try"
        made = {f"tryContext{self.number()}": attempt(first, second, (value, other), key=key)}
        visible.append(key)
        return made

    def _do(self, visible: list[str], depth: int) -> dict[str, Any]:
        inside, value = self.body(visible, depth, [])
        key = f"step{self.number()}_do"
        made = {f"doContext{self.number()}": do(inside, value={"a": value, "b": {"const": 1}}, key=key)}
        visible += [key, f"{key}.a"]
        return made


def answer_to(command: Any) -> Any:
    """Answer a command; the answer depends on its id and its input only."""
    word = f"x{sum(map(ord, command['id'])) % 3}"
    if command["kind"] == "model":
        return {"ok": {key: _filled(schema, word) for key, schema in command["schema"]["properties"].items()}}
    if command["activity"] == "Risky" and word == "x1":
        return {"error": {"kind": "failed", "code": "risk", "message": "it went wrong"}}
    return {"ok": {"text": word}}


def _filled(schema: Any, word: str) -> Any:
    known = {
        "text": word,
        "q": word,
        "list": [1, word],
        "plan": [
            {"tool": "A", "id": "a", "arguments": {"x": {"from": "b.text"}}},
            {"tool": "B", "id": "b", "arguments": {"x": word}},
        ],
    }
    return {name: known[name] for name in schema["properties"]}
