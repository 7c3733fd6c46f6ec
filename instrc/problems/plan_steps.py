"""Problems with programs that ask for plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class NotForPlans(Problem):
    """A plan can call only activities and processes.

    The arguments of `Plan(…)` are tools: activities of the server, or processes.
    To use a step of a model or a person as a tool, put it into a process.

    ```aug agent.aug
    const act = Act(prompt, { plan: Plan(Confirm_User) });
    RunPlan_Activity(act.plan)
    ```

    ```json schemas/act.vibe.json
    { "type": "object", "properties": { "plan": {} } }
    ```

    ```json schemas/confirm_User.vibe.json
    { "type": "object", "properties": { "decision": { "type": "string" } } }
    ```

    Name an activity, or put the step into a separate program and name that program.
    """

    name: ClassVar[str] = "not-for-plans"

    word: str
    activity: str = ""
    """The activity of that name, if there is one."""
    named: bool = True
    """Whether it is a name or a reference."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.word == "Plan()":
            return "a plan needs a tool that it can call"
        return f"`{self.word}` is not a tool that a plan can call"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.activity:
            return f"did you mean `{self.activity}`?"
        if self.word.isdigit():
            return f"bound a plan by its schema: `Plan(…) @ {{ maxItems: {self.word} }}`"
        if not self.named or self.word == "Plan()":
            return "name the tools one after the other: `Plan(Search_Activity, Book_Activity)`"
        return "tools are activities (`Search_Activity`) and processes"


@dataclass(frozen=True, slots=True, kw_only=True)
class MisplacedPlan(Problem):
    """`Plan(…)` or `OneOf(…)` is written where no property is filled.

    They are schemas of a property, so write them in braces, as the value of that property.

    ```aug agent.aug
    Act(prompt) | Plan(Search_Activity)
    ```

    ```json schemas/act.vibe.json
    { "type": "object", "properties": { "plan": {} } }
    ```

    ```json schemas/search_Activity.vibe.json
    { "type": "object", "properties": { "hits": { "type": "array" } } }
    ```

    Write it in the braces of a step: `Act(prompt, { plan: Plan(Search_Activity) })`.
    """

    name: ClassVar[str] = "misplaced-plan"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self._is_bare():
            return f"`{self.word}` needs brackets after it"
        return f"`{self.word}` is allowed only in the braces of a step that the model or a person fills in"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self._is_bare():
            given = "tools: `Plan(Search_Activity)`" if self.word == "Plan" else "path of a list: `OneOf(found.ids)`"
            return f"write in the brackets the {given}"
        return f"write it as a property of a step of the model or a person: `Act({{ property: {self.word}(…) }})`"

    def _is_bare(self) -> bool:
        return self.at is not None and self.at.text == self.word


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAPlan(Problem):
    """The argument of `RunPlan_Activity` is not a plan, or it is not the only argument.

    `Plan(…)` defines the tools that a plan may call; a value without `Plan(…)` cannot be carried out.
    `RunPlan_Activity(act.plan, prompt)` and `RunPlan_Activity(plan: act.plan)` are not allowed either:
    an object that contains a plan is not a plan.

    ```aug agent.aug
    const act = Act(prompt);
    RunPlan_Activity(act.plan)
    ```

    ```json schemas/act.vibe.json
    { "type": "object", "properties": { "plan": {} } }
    ```

    Let a `Plan(…)` fill the property: `Act(prompt, { plan: Plan(Search_Activity) })`.
    """

    name: ClassVar[str] = "not-a-plan"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "`RunPlan_Activity` takes one plan that `Plan(…)` fills, and nothing else"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "fill the property with `Plan(…)` in the braces of the step, and pass its path alone: `RunPlan_Activity(act.plan)`"


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentTools(Problem):
    """`RunPlan_Activity` is given one of several plans, and a tool of one name is not the same in all of them.

    A tool is known by its name. Where two plans name the same tool, the program gives it the same arguments in both:
    otherwise it is not known which ones to take.

    ```aug agent.aug
    const check = Check(prompt);
    const act = when check.known { Act(prompt, { plan: Plan(Book_Activity(passenger: check.name)) }) }
      else { Act(prompt, { plan: Plan(Book_Activity) }) };
    RunPlan_Activity(act.plan)
    ```

    ```json schemas/check.vibe.json
    { "type": "object", "properties": { "known": { "type": "boolean" }, "name": { "type": "string" } } }
    ```

    ```json schemas/act.vibe.json
    { "type": "object", "properties": { "plan": {} } }
    ```

    ```json schemas/book_Activity.vibe.json
    {
      "type": "object",
      "properties": { "passenger": { "type": "string" }, "hotel": { "type": "string" }, "output": {} }
    }
    ```

    Write `RunPlan_Activity` in each branch, after the `Act` there.
    """

    name: ClassVar[str] = "different-tools"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"two of the plans that may be run here have different tools with the name `{self.word}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "give it the same arguments in each `Plan(…)`, or carry out each plan in the block that makes it"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundInBlock(Problem):
    """A tool of a plan is bound to a value inside a block, and the plan is carried out outside of that block.

    What the program gives to a tool is read when the plan is carried out. Names of a block end with it.
    Names of a round end with the round: `previous.act.plan` is a plan of another one.

    ```aug agent.aug
    const people = People(prompt);
    const acts = each person in people.list { Act(person, { plan: Plan(Book_Activity(passenger: person)) }) };
    each act in acts { RunPlan_Activity(act.plan) }
    ```

    ```json schemas/people.vibe.json
    { "type": "object", "properties": { "list": { "type": "array", "items": { "type": "string" } } } }
    ```

    ```json schemas/act.vibe.json
    { "type": "object", "properties": { "plan": {} } }
    ```

    ```json schemas/book_Activity.vibe.json
    {
      "type": "object",
      "properties": { "passenger": { "type": "string" }, "hotel": { "type": "string" }, "output": {} }
    }
    ```

    Carry out the plan in the same block: `each person in people.list { const act = …; RunPlan_Activity(act.plan) }`.
    """

    name: ClassVar[str] = "bound-in-block"

    word: str
    argument: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.argument}` of the tool `{self.word}` is a value of a block, and the plan is carried out outside of it"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `RunPlan_Activity` in the block that makes the plan, or bind a value from outside of the block"
