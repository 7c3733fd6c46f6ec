"""Flagship examples of other systems, written as programs: each compiles without a warning, is rehearsed whole, and runs."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from every_case import every_case
from objects import an_object

import instrc

TEXT = {"type": "string"}
TEXT_OR_NULL = {"type": ["string", "null"]}
TEXTS = {"type": "array", "items": TEXT}
YES = {"type": "boolean"}
NUMBER = {"type": "number"}
TASKS = {"type": "array"}


def one_of(*values: str | None) -> dict[str, Any]:
    return {"enum": list(values)}


def gives(value: Any) -> Any:
    """Return an activity that gives a value, whatever it is given."""

    def activity(*_: Any, **__: Any) -> Any:
        return value

    return activity


class Port(NamedTuple):
    """A program, the schemas of its instructions, and a run of it."""

    program: str
    vibes: dict[str, Any]
    answers: dict[str, Any]
    """Of models and people, by their steps."""
    value: Any
    activities: dict[str, Any] | None = None
    given: Any = "a request"


JUDGED = an_object(score=one_of("pass", "fail"), feedback=TEXT)
CHECKED = an_object(why=TEXT, found=YES)
WEATHER = [{"tool": "Weather_Activity", "id": "a", "arguments": {"city": "Rome"}}]
BALANCE = [{"tool": "Balance_Activity", "id": "a", "arguments": {"pending": True}}]
TRIP = {"prompt": "a trip", "request": {"origin": "SFO", "destination": "ANC"}}
BOOKINGS = ("BookHotel", "BookFlight", "BookCar", "CancelHotel", "CancelFlight")

PORTS = {
    "OpenAI Agents: a model as judge": Port(
        """
        "Outline a story" | repeat {
          const outline = Outline(prompt, previous);
          const verdict = do { Judge(outline) };
          outline
        } until verdict.score is "pass" max 10
        """,
        {"Outline": an_object(text=TEXT), "Judge": JUDGED},
        {
            "outline": [{"text": "a"}, {"text": "b"}],
            "judge": [{"score": "fail", "feedback": "f"}, {"score": "pass", "feedback": ""}],
        },
        {"text": "b"},
    ),
    "OpenAI Agents: routing in a conversation": Port(
        """
        "Answer in the language of the customer" | repeat {
          const heard = Listen_User(previous.answer);
          const route = Route(heard, rounds);
          const answer = when route.to is "french" { French(heard) } else { English(heard) };
          answer
        } until heard.text is "bye" max 20
        """,
        {
            "Listen_User": an_object(text=TEXT),
            "Route": an_object(to=one_of("french", "english")),
            "French": an_object(reply=TEXT),
            "English": an_object(reply=TEXT),
        },
        {
            "listen": [{"text": "salut"}, {"text": "bye"}],
            "route": [{"to": "french"}, {"to": "english"}],
            "french": {"reply": "oui"},
            "english": {"reply": "ok"},
        },
        {"reply": "ok"},
    ),
    "OpenAI Agents: parallelization": Port(
        '"Translate" | each i in 3 { Translate(prompt) } | PickBest(prompt)',
        {"Translate": an_object(text=TEXT), "PickBest": an_object(text=TEXT)},
        {"translate": [{"text": "a"}, {"text": "b"}, {"text": "c"}], "pick_best": {"text": "b"}},
        {"text": "b"},
    ),
    "OpenAI Agents: a guardrail beside the agent": Port(
        """
        "Support" | race {
          const guard = CheckHomework(prompt);
          when guard.found { { reply: "Sorry, no homework." } } else { Fail(code: "fine", message: guard.why) }
        } or {
          const answer = Support(prompt);
          { reply: answer.reply }
        }
        """,
        {"CheckHomework": CHECKED, "Support": an_object(reply=TEXT)},
        {"check_homework": {"why": "", "found": False}, "support": {"reply": "x = 2"}},
        {"reply": "x = 2"},
    ),
    "OpenAI Agents: deterministic": Port(
        """
        const outline = Outline(prompt);
        const check   = do { CheckOutline(outline) };
        "A science fiction story" | when check.good and check.scifi { WriteStory(outline) }
        """,
        {"Outline": an_object(text=TEXT), "CheckOutline": an_object(good=YES, scifi=YES), "WriteStory": an_object(story=TEXT)},
        {"outline": {"text": "o"}, "check_outline": {"good": True, "scifi": False}},
        None,
    ),
    "OpenAI Agents: a guardrail behind the agent": Port(
        """
        const reply = Answer(prompt);
        const guard = do { FindSecrets(reply) };
        "Answer" | when guard.found { Fail(code: "secret", message: guard.why) } else { reply }
        """,
        {"Answer": an_object(text=TEXT), "FindSecrets": CHECKED},
        {"answer": {"text": "t"}, "find_secrets": {"why": "", "found": False}},
        {"text": "t"},
    ),
    "OpenAI Agents: tools that a person allows": Port(
        """
        "Answer with tools that a person allows" | repeat {
          const act = Act(prompt, rounds, { plan: Plan(Weather_Activity) });
          const allowed = when act.answer is null { Allow_User(act, { plan: Plan(Weather_Activity) }) };
          const seen = RunPlan_Activity(allowed.plan);
          act
        } until act.answer is not null max 8
        """,
        {
            "Act": an_object(answer=TEXT_OR_NULL, plan=TASKS),
            "Weather": an_object(city=TEXT),
            "Weather_Activity": an_object(output=TEXT),
            "Allow_User": an_object(plan=TASKS),
        },
        {"act": [{"answer": None, "plan": WEATHER}, {"answer": "Sunny", "plan": []}], "allow": {"plan": WEATHER}},
        {"answer": "Sunny", "plan": []},
        {"Weather_Activity": lambda city: f"sun in {city}"},
    ),
    "OpenAI Agents: a circuit breaker": Port(
        """
        input orders @ { type: "array", items: { type: "string" } };
        "Look up orders until one fails" | repeat order in orders {
          const found = try {
            const known = LookUp_Activity(order);
            { state: known.state, failed: false }
          } else {
            { state: error.message, failed: true }
          };
          found
        } until found.failed
        """,
        {"LookUp_Activity": an_object(state=TEXT)},
        {},
        [{"state": "a sent", "failed": False}, {"state": "b sent", "failed": False}],
        {"LookUp_Activity": lambda order: {"state": f"{order} sent"}},
        {"prompt": "orders", "orders": ["a", "b"]},
    ),
    "LangGraph: plan and execute": Port(
        """
        const first = MakePlan(prompt);
        "Plan, execute, plan again" | repeat {
          const done = Execute_Activity(previous.next.steps);
          const next = Replan(prompt, done, rounds);
          next
        } from { next: { steps: first.steps, response: null } } until next.response is not null max 10
        """,
        {
            "MakePlan": an_object(steps=TEXTS),
            "Execute_Activity": an_object(result=TEXT),
            "Replan": an_object(steps=TEXTS, response=TEXT_OR_NULL),
        },
        {
            "make_plan": {"steps": ["a", "b"]},
            "replan": [{"steps": ["b"], "response": None}, {"steps": [], "response": "done"}],
        },
        {"steps": [], "response": "done"},
        {"Execute_Activity": lambda steps: {"result": steps[0]}},
    ),
    "LangGraph: corrective retrieval": Port(
        """
        "Answer from documents" | repeat {
          const docs = Retrieve_Activity(previous.better.query);
          const graded = each doc in docs.items { const grade = Grade(prompt, doc); { doc, relevant: grade.relevant } };
          const answer = do { Generate(prompt, graded) };
          const verdict = do { CheckGrounded(prompt, answer, graded) };
          const better = when verdict.score is not "pass" { Rewrite(prompt, verdict) };
          answer
        } from { better: { query: prompt } } until verdict.score is "pass" max 4
        """,
        {
            "Retrieve_Activity": an_object(items=TEXTS),
            "Grade": an_object(relevant=YES),
            "Generate": an_object(text=TEXT),
            "CheckGrounded": JUDGED,
            "Rewrite": an_object(query=TEXT),
        },
        {
            "grade": {"relevant": True},
            "generate": [{"text": "a"}, {"text": "b"}],
            "check_grounded": [{"score": "fail", "feedback": ""}, {"score": "pass", "feedback": ""}],
            "rewrite": {"query": "q"},
        },
        {"text": "b"},
        {"Retrieve_Activity": lambda query: {"items": [query, "x"]}},
    ),
    "LangGraph: map and reduce": Port(
        """
        const topics = ListTopics(prompt);
        const jokes  = each topic in topics.subjects { Joke(topic) };
        "The best joke" | Best({ id: OneOf(topics.subjects) }, jokes)
        """,
        {"ListTopics": an_object(subjects=TEXTS), "Joke": an_object(joke=TEXT), "Best": an_object(id=TEXT)},
        {"list_topics": {"subjects": ["cats", "dogs"]}, "joke": {"joke": "j"}, "best": {"id": "dogs"}},
        {"id": "dogs"},
    ),
    "LangGraph: an assistant for mail": Port(
        """
        input mail;
        const kind = Triage(mail);
        "Look after my mail" | when kind.action is "notify" {
          Notice_User(mail, kind)
        } else when kind.action is "respond" {
          const last = repeat {
            const draft = Draft(mail, previous);
            const look  = Review_User(draft);
            { draft, look }
          } until look.decision is not "change" max 5;
          when last.look.decision is "accept" {
            Send_Activity(last.draft)
          } else when last.look.decision is "edit" {
            Send_Activity(text: last.look.text)
          }
        }
        """,
        {
            "Triage": an_object(action=one_of("ignore", "notify", "respond")),
            "Notice_User": an_object(seen=YES),
            "Draft": an_object(text=TEXT),
            "Review_User": an_object(decision=one_of("accept", "edit", "change"), text=TEXT_OR_NULL),
            "Send_Activity": an_object(id=TEXT),
        },
        {
            "triage": {"action": "respond"},
            "draft": [{"text": "1"}, {"text": "2"}],
            "review": [{"decision": "change", "text": "warmer"}, {"decision": "edit", "text": "3"}],
        },
        {"id": "sent 3"},
        {"Send_Activity": lambda text: {"id": f"sent {text}"}},
        {"prompt": "mail", "mail": "hello"},
    ),
    "LangGraph: a supervisor": Port(
        """
        "A researcher and a coder" | repeat {
          const next = Supervise(prompt, rounds);
          const said = when next.worker is "researcher" {
            Research_Activity(next.task)
          } else when next.worker is "coder" {
            Code_Activity(next.task)
          };
          next
        } until next.worker is "finish" max 10 keep 5 | Report
        """,
        {
            "Supervise": an_object(worker=one_of("researcher", "coder", "finish"), task=TEXT),
            "Research_Activity": an_object(text=TEXT),
            "Code_Activity": an_object(text=TEXT),
            "Report": an_object(text=TEXT),
        },
        {"supervise": [{"worker": "coder", "task": "c"}, {"worker": "finish", "task": ""}], "report": {"text": "r"}},
        {"text": "r"},
        {"Code_Activity": lambda task: {"text": task}, "Research_Activity": lambda task: {"text": task}},
    ),
    "pydantic-ai: book a flight": Port(
        """
        input request @ {
          type: "object",
          properties: { origin: { type: "string" }, destination: { type: "string" } },
          required: ["origin", "destination"],
        };
        const flights = ExtractFlights(FetchPage_Activity(request));
        const found = repeat {
          const pick = Search({ request, flights: flights.items, rejected: rounds });
          const answer = when pick.flight is not null { Buy_User(pick) };
          { pick, answer }
        } until answer.decision is "buy" or pick.flight is null max 8;
        "Book a flight" | when found.answer.decision is "buy" {
          const seat = repeat { const read = ReadSeat(ChooseSeat_User(previous)); read } until read.row is not null max 3;
          Purchase_Activity({ flight: found.pick.flight, seat })
        }
        """,
        {
            "FetchPage_Activity": an_object(text=TEXT),
            "ExtractFlights": an_object(items={"type": "array", "items": an_object(flight=TEXT, price=NUMBER)}),
            "Search": an_object(flight=TEXT_OR_NULL),
            "Buy_User": an_object(decision=one_of("buy", "search")),
            "ChooseSeat_User": an_object(text=TEXT),
            "ReadSeat": an_object(row={"type": ["integer", "null"]}),
            "Purchase_Activity": an_object(ticket=TEXT),
        },
        {
            "extract_flights": {"items": [{"flight": "A", "price": 1}, {"flight": "B", "price": 2}]},
            "search": [{"flight": "A"}, {"flight": "B"}],
            "buy": [{"decision": "search"}, {"decision": "buy"}],
            "choose_seat": {"text": "the first row"},
            "read_seat": [{"row": None}, {"row": 1}],
        },
        {"ticket": "B 1"},
        {
            "FetchPage_Activity": lambda request: {"text": request["origin"]},
            "Purchase_Activity": lambda flight, seat: {"ticket": f"{flight} {seat['row']}"},
        },
        TRIP,
    ),
    "pydantic-ai: support of a bank": Port(
        """
        input customer @ { type: "integer" };
        const last = repeat {
          const act = Advise(prompt, rounds, { plan: Plan(Balance_Activity(customer)) });
          const seen = RunPlan_Activity(act.plan);
          act
        } until act.advice is not null max 5;
        "Support a customer" | do { when last.block { BlockCard_Activity(customer) }; last }
        """,
        {
            "Advise": an_object(plan=TASKS, advice=TEXT_OR_NULL, block=YES),
            "Balance_Activity": an_object(pending=YES, customer={"type": "integer"}, output=NUMBER),
            "BlockCard_Activity": an_object(done=YES),
        },
        {"advise": [{"plan": BALANCE, "advice": None, "block": False}, {"plan": [], "advice": "ok", "block": True}]},
        {"plan": [], "advice": "ok", "block": True},
        {
            "Balance_Activity": lambda customer, pending: customer / 2 if pending else 0,
            "BlockCard_Activity": gives({"done": True}),
        },
        {"prompt": "I lost my card", "customer": 7},
    ),
    "pydantic-ai: a quiz": Port(
        """
        "A quiz" | repeat {
          const question = when previous.verdict.correct is false { previous.question } else { Ask(prompt, rounds) };
          const reply    = Reply_User(question);
          const verdict  = Evaluate(question, reply);
          verdict
        } until verdict.correct max 10
        """,
        {"Ask": an_object(question=TEXT), "Reply_User": an_object(text=TEXT), "Evaluate": an_object(correct=YES)},
        {"ask": [{"question": "q"}], "reply": {"text": "a"}, "evaluate": [{"correct": False}, {"correct": True}]},
        {"correct": True},
    ),
    "DSPy: several hops": Port(
        """
        const hops = repeat i in 4 {
          const hop   = NextQuery(prompt, rounds);
          const found = Search_Activity(query: hop.query);
          const notes = TakeNotes(prompt, hop, found);
          { query: hop.query, notes: notes.notes }
        };
        "Answer over several hops" | Answer(prompt, hops)
        """,
        {
            "NextQuery": an_object(query=TEXT),
            "Search_Activity": an_object(query=TEXT, output=TEXTS),
            "TakeNotes": an_object(notes=TEXTS),
            "Answer": an_object(claim=TEXT),
        },
        {"next_query": {"query": "q"}, "take_notes": {"notes": ["n"]}, "answer": {"claim": "c"}},
        {"claim": "c"},
        {"Search_Activity": lambda query: [query]},
    ),
    "DSPy: the best of N": Port(
        """
        const tries = each i in 5 {
          const answer = Answer(prompt);
          const judged = do { Reward(prompt, answer) };
          { answer: answer.text, reward: judged.reward }
        } until judged.reward >= 1;
        "One word" | PickBest_Activity(tries)
        """,
        {"Answer": an_object(text=TEXT), "Reward": an_object(reward=NUMBER), "PickBest_Activity": an_object(text=TEXT)},
        {"answer": {"text": "Brussels"}, "reward": {"reward": 1}},
        {"text": "Brussels"},
        {"PickBest_Activity": lambda tries: {"text": next(each for each in tries if each)["answer"]}},
    ),
    "DSPy: refine": Port(
        """
        "One word" | repeat {
          const answer = Answer(prompt, previous);
          const judged = do { Reward(prompt, answer) };
          answer
        } until judged.reward >= 1 max 3 else { PickBest_Activity(rounds) }
        """,
        {"Answer": an_object(text=TEXT), "Reward": an_object(reward=NUMBER), "PickBest_Activity": an_object(text=TEXT)},
        {"answer": [{"text": "a b"}, {"text": "c"}], "reward": {"reward": 0}},
        {"text": "best of 3"},
        {"PickBest_Activity": lambda rounds: {"text": f"best of {len(rounds)}"}},
    ),
    "DSPy: a program of thought": Port(
        """
        const last = repeat {
          const code = WriteCode(prompt, previous);
          const ran  = try { { printed: Run_Activity(code.code), fault: null } } else { { printed: null, fault: error.message } };
          ran
        } until ran.fault is null max 3;
        "Solve it with code" | Extract(prompt, last.printed)
        """,
        {"WriteCode": an_object(code=TEXT), "Run_Activity": an_object(output=TEXT), "Extract": an_object(answer=TEXT)},
        {"write_code": {"code": "1 + 1"}, "extract": {"answer": "2"}},
        {"answer": "2"},
        {"Run_Activity": lambda code: f"{code} = 2"},
    ),
    "Step Functions: wait for a job": Port(
        """
        const job  = Submit_Activity(prompt);
        const last = repeat {
          const state = Status_Activity(job.id) @ { delay: "PT0.01S" };
          state
        } until state.status is not "RUNNING" max 100;
        "Wait for a job" | when last.status is "FAILED" { Fail(code: "job", message: last.status) } else { last }
        """,
        {"Submit_Activity": an_object(id=TEXT), "Status_Activity": an_object(status=one_of("RUNNING", "SUCCEEDED", "FAILED"))},
        {},
        {"status": "SUCCEEDED"},
        {"Submit_Activity": gives({"id": "1"}), "Status_Activity": gives({"status": "SUCCEEDED"})},
    ),
    "Step Functions: a trip or nothing": Port(
        """
        input trip;
        const hotel = BookHotel_Activity(trip);
        "Book a trip" | try {
          const flight = BookFlight_Activity(trip, hotel);
          try {
            const car = BookCar_Activity(trip, flight);
            { hotel, flight, car }
          } else {
            CancelFlight_Activity(flight);
            Fail(error)
          }
        } else {
          CancelHotel_Activity(hotel);
          Fail(error)
        }
        """,
        {f"{name}_Activity": an_object(id=TEXT) for name in BOOKINGS},
        {},
        {"hotel": {"id": "h"}, "flight": {"id": "f"}, "car": {"id": "c"}},
        {
            "BookHotel_Activity": gives({"id": "h"}),
            "BookFlight_Activity": gives({"id": "f"}),
            "BookCar_Activity": gives({"id": "c"}),
            "CancelHotel_Activity": gives({"id": "-"}),
            "CancelFlight_Activity": gives({"id": "-"}),
        },
        {"prompt": "a trip", "trip": "to Rome"},
    ),
    "Step Functions: a person with a deadline": Port(
        """
        input expense @ { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] };
        const decision = when expense.amount > 100 {
          try { Approve_User(expense) @ { within: "P7D" } } else { { decision: "Reject", comment: error.kind } }
        } else {
          { decision: "Approve", comment: "small" }
        };
        "Pay an expense" | when decision.decision is "Approve" {
          Pay_Activity(expense)
        } else {
          Tell_Activity(expense, reason: decision.comment)
        }
        """,
        {
            "Approve_User": an_object(decision=one_of("Approve", "Reject"), comment=TEXT),
            "Pay_Activity": an_object(paid=YES),
            "Tell_Activity": an_object(told=TEXT),
        },
        {"approve": {"decision": "Reject", "comment": "too much"}},
        {"told": "too much: 500"},
        {
            "Pay_Activity": gives({"paid": True}),
            "Tell_Activity": lambda expense, reason: {"told": f"{reason}: {expense['amount']}"},
        },
        {"prompt": "pay", "expense": {"amount": 500}},
    ),
    "Temporal: deep research": Port(
        """
        const plan    = PlanResearch(prompt);
        const queries = WriteQueries(plan);
        const found   = each query in queries.queries { try { Search(query) } else { null } };
        const kept    = Drop_Activity(found);
        "Research" | when kept.results @ { minItems: 1 } {
          Report(prompt, plan, kept.results)
        } else {
          Fail(code: "nothing", message: "all searches have failed")
        }
        """,
        {
            "PlanResearch": an_object(aspects=TEXTS),
            "WriteQueries": an_object(queries=TEXTS),
            "Search": an_object(text=TEXT),
            "Drop_Activity": an_object(results=TEXTS),
            "Report": an_object(report=TEXT),
        },
        {
            "plan_research": {"aspects": []},
            "write_queries": {"queries": ["a", "b"]},
            "search": {"text": "t"},
            "report": {"report": "r"},
        },
        {"report": "r"},
        {"Drop_Activity": lambda found: {"results": [each["text"] for each in found if each]}},
    ),
    "Temporal: an answer, or a reminder and no": Port(
        """
        "An answer in time" | race {
          Approve_User(prompt)
        } or {
          Remind_Activity(prompt) @ { delay: "PT0.01S" };
          do { { decision: "Reject" } } @ { delay: "PT0.02S" }
        }
        """,
        {"Approve_User": an_object(decision=one_of("Approve", "Reject")), "Remind_Activity": an_object(sent=YES)},
        {},
        {"decision": "Reject"},
        {"Remind_Activity": gives({"sent": True})},
    ),
    "AutoGen: a writer and a critic": Port(
        """
        "A writer and a critic" | repeat {
          const text = Write(prompt, rounds);
          const said = do { Criticise(text, rounds) };
          text
        } until said.score is "pass" max 6
        """,
        {"Write": an_object(text=TEXT), "Criticise": JUDGED},
        {
            "write": [{"text": "1"}, {"text": "2"}],
            "criticise": [{"score": "fail", "feedback": ""}, {"score": "pass", "feedback": ""}],
        },
        {"text": "2"},
    ),
    "AutoGen: a swarm": Port(
        """
        "Refund a flight" | repeat {
          const turn = when previous.turn.to is "refunder" {
            Refunder(prompt, rounds, { plan: Plan(Refund_Activity) })
          } else {
            TravelAgent(prompt, rounds, { plan: Plan(Refund_Activity) })
          };
          const seen  = RunPlan_Activity(turn.plan);
          const heard = when turn.to is "user" { Reply_User(turn.say) };
          turn
        } until turn.to is "end" max 20
        """,
        {
            "Refunder": an_object(to=one_of("agent", "user"), say=TEXT, plan=TASKS),
            "TravelAgent": an_object(to=one_of("refunder", "user", "end"), say=TEXT, plan=TASKS),
            "Refund_Activity": an_object(flight=TEXT, output=TEXT),
            "Reply_User": an_object(text=TEXT),
        },
        {
            "travel_agent": [{"to": "refunder", "say": "", "plan": []}, {"to": "end", "say": "bye", "plan": []}],
            "refunder": [{"to": "user", "say": "which?", "plan": []}],
            "reply": {"text": "507"},
        },
        {"to": "end", "say": "bye", "plan": []},
        {"Refund_Activity": lambda flight: flight},
    ),
    "AutoGen: a ledger": Port(
        """
        const facts = GatherFacts(prompt);
        "Work with a ledger" | repeat {
          const plan = MakePlan(prompt, facts, previous.work);
          const work = repeat {
            const ledger = Progress(prompt, plan, rounds);
            const step = when ledger.next is "web" { Browse_Activity(ledger.order) } else { Compute_Activity(ledger.order) };
            ledger
          } until ledger.satisfied or ledger.stalled max 20;
          work
        } until work.satisfied max 3 | FinalAnswer(prompt)
        """,
        {
            "GatherFacts": an_object(facts=TEXT),
            "MakePlan": an_object(plan=TEXT),
            "Progress": an_object(satisfied=YES, stalled=YES, next=one_of("web", "computer"), order=TEXT),
            "Browse_Activity": an_object(text=TEXT),
            "Compute_Activity": an_object(text=TEXT),
            "FinalAnswer": an_object(answer=TEXT),
        },
        {
            "gather_facts": {"facts": ""},
            "make_plan": {"plan": "p"},
            "progress": [
                {"satisfied": False, "stalled": True, "next": "web", "order": "o"},
                {"satisfied": True, "stalled": False, "next": "computer", "order": "o"},
            ],
            "final_answer": {"answer": "a"},
        },
        {"answer": "a"},
        {"Browse_Activity": lambda order: {"text": order}, "Compute_Activity": lambda order: {"text": order}},
    ),
    "BAML: a publisher": Port(
        """
        const topic = InferTopic(prompt);
        "A blog post" | when topic.topic is not null {
          WritePost(topic.topic) | EditPost
        } else {
          { text: "I could not infer a topic." }
        }
        """,
        {"InferTopic": an_object(topic=TEXT_OR_NULL), "WritePost": an_object(text=TEXT), "EditPost": an_object(text=TEXT)},
        {"infer_topic": {"topic": None}},
        {"text": "I could not infer a topic."},
    ),
    "BAML: fill in a form": Port(
        """
        input fields @ { type: "array", items: { type: "string" } };
        "Fill in a form" | repeat {
          const heard = Say_User(previous.form.question);
          const form  = Fill(fields, heard, previous.form);
          form
        } until form.missing @ { maxItems: 0 } max 10
        """,
        {"Say_User": an_object(text=TEXT), "Fill": an_object(missing=TEXTS, question=TEXT_OR_NULL)},
        {"say": {"text": "t"}, "fill": [{"missing": ["a"], "question": "a?"}, {"missing": [], "question": None}]},
        {"missing": [], "question": None},
        {},
        {"prompt": "a form", "fields": ["a"]},
    ),
}


@every_case("name", PORTS)
def test_it_compiles_without_a_warning_and_every_branch_is_rehearsed(name: str) -> None:
    port = PORTS[name]
    assert instrc.check(f"{port.program}\n", vibes=port.vibes) == ()
    rehearsal = instrc.rehearse(port.program, vibes=port.vibes)
    assert (rehearsal.missed, rehearsal.sound) == ((), True)


@every_case("name", PORTS)
def test_it_runs(name: str) -> None:
    port = PORTS[name]
    answers = instrc.Scripted(port.answers)
    said = {key: list(value) if isinstance(value, list) else [value] for key, value in port.answers.items()}

    run = instrc.run(port.program, port.given, vibes=port.vibes, model=answers, activities=port.activities or {})
    for _ in range(20):  # where nobody answers, the run comes back with its question, and its delays pass meanwhile
        if run.status != "waiting":
            break
        for question in run.questions[:1]:
            mine = said.get(question.steps[0].partition("_")[2]) if question.steps else None
            if mine is not None:
                run.answer(question.id, mine.pop(0) if len(mine) > 1 else mine[0])
        time.sleep(0.02)
        run.resume()
    assert (run.status, run.value) == ("done", port.value)
