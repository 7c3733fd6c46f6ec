// A session in a terminal: listen, decide whether it is for us, choose a service, check, call it, and listen again.
// What is printed, logged and remembered at each turn stands in rows.json; Tell_Activity says one row and gives the history after it.
repeat {
  const greeted = when round is 1 {
    Tell_Activity({ row: "1 session start", history: previous.history })
  } else {
    Tell_Activity({ row: "1 not session start", history: previous.history })
  };

  const heard = repeat {
    const kind = Recognize_Activity(Listen_User({ after: greeted, again: previous.kind }));
    when kind.kind is "help" { Tell_Activity({ row: "1 help command", history: greeted }) }
    kind
  } until kind.kind is "exit" or kind.kind is "message" max 10000;

  const history = when heard.kind is "exit" {
    Tell_Activity({ row: "1 exit command", history: greeted })
  } else {
    Answer(
      history: Tell_Activity({ row: "1 message received", history: greeted, text: heard.text }),
    )
  };

  { kind: heard.kind, history }
} until heard.kind is "exit" max 10000 keep 1;
