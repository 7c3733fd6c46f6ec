"Answer a customer" | Understand | Polite_Mixin(Reply);
