// A customer writes. Simple things are answered at once; the rest goes to a colleague, who may ask for another draft.
input customer @ {
  type: "object",
  properties: { name: { type: "string" }, plan: { enum: ["free", "paid"] } },
  required: ["name", "plan"],
};

const ticket = ReadTicket(prompt);
const facts = LookUp_Activity(topic: ticket.topic);

"Answer a customer"
  | when ticket.urgency is "high" or ticket.angry {
      const call = try {
        Escalate_Activity({ ticket, customer }) @ { within: "PT5M" }
      } else {
        WakeSomebody_Activity({ ticket, error })
      };
      const note = WriteHoldingReply(ticket, customer.name);
      SendReply_Activity({ note, call })
    } else {
      const letter = repeat {
        const draft = WriteReply({
          ticket,
          facts,
          last: previous.draft,
          remark: previous.review.comment,
        });
        const review = Review_User({ ticket, draft }) @ { within: "P1D" };
        { draft, review }
      } until review.decision is "Approve" max 2 else {
        Fail(message: "nobody approved a reply", code: "not-approved")
      };
      SendReply_Activity(note: letter.draft)
    };
