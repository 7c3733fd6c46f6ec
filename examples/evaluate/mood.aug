// How a customer feels about what they bought or saw.
prompt | Tell_Mood;
