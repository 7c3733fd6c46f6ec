// A person decides; each guest gets a mail; a mail that bounces is noted and stops nobody else.
const people = FindGuests(prompt);
const draft = WriteInvitation(prompt, people);
const answer = Approve_User({ draft, people });

when answer.decision is "Approve" {
  each guest in people.guests {
    try {
      SendMail_Activity({ to: guest, mail: draft })
    } else {
      NoteBounce_Activity({ guest, error })
    }
  }
} else {
  Apologise(answer.comment)
}
