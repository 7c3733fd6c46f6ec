const letter = Understand(prompt);
const refund = DecideRefund(letter);
"Answer a customer" | Polite_Mixin(Reply(letter.wish, refund));
