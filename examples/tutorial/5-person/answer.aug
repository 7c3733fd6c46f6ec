const letter = Understand(prompt);
const refund = DecideRefund(letter);
const approval = Approve_User({ letter: prompt, refund });
"Answer a customer" | Polite_Mixin(Reply(letter.wish, refund, approval));
