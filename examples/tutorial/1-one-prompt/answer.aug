"Answer a customer" | Reply;
