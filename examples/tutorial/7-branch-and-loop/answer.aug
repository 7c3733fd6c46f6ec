const letter = Understand(prompt);

"Answer a customer"
  | when letter.order is null {
      AskForNumber(letter)
    } else {
      const order = FindOrder_Activity(number: letter.order);
      const last = repeat {
        const refund = DecideRefund(letter, order, remark: previous.approval.comment);
        const approval = Approve_User({ letter: prompt, order, refund });
        { refund, approval }
      } until approval.decision is "Approve" max 3 else {
        Fail(message: "nobody approved a refund", code: "not-approved")
      };
      const paid = PayBack_Activity(order: letter.order, euros: last.refund.euros);
      Polite_Mixin(Reply(letter.wish, last.refund, paid))
    };
