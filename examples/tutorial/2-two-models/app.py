"""Compile two models into one tool, send it, and read the answer."""

from models import Reply, Understand

import instrc

[tool] = instrc.compile('"Answer a customer" | Understand | Reply', vibes=[Understand, Reply])
print("the model fills in:", *tool["properties"])

lowered = instrc.lower(tool, target="openai", name="answer")
print("OpenAI receives:", *lowered.payload["function"]["parameters"]["properties"])

# Here your own code calls the provider: `client.chat.completions.create(…, tools=[lowered.payload])`. This is such an answer.
response = {
    "type": "function",
    "function": {
        "name": "answer",
        "arguments": '{"step1_understand": {"wish": "A new cake", "order": 17}, "step2_reply": {"text": "It is on its way."}}',
    },
}

lifted = instrc.lift(response, lowered.map)
print("status:", lifted.status)
print("order:", lifted.as_model(Understand, "step1_understand").order)
print("reply:", lifted.as_model(Reply, "step2_reply").text)

response["function"]["arguments"] = '{"step1_understand": {"wish": "A new cake", "order": "the big one"}}'
lifted = instrc.lift(response, lowered.map)
print("status:", lifted.status)
for fault in lifted.invalid:
    print(" ", fault.instance, fault.message)
