const letter = Understand(prompt);
const order = FindOrder_Activity(number: letter.order);
const refund = DecideRefund(letter, order);
const approval = Approve_User({ letter: prompt, order, refund });
"Answer a customer" | Polite_Mixin(Reply(letter.wish, refund, approval));
