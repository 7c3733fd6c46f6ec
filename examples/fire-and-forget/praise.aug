// The model writes, the server posts, nobody waits.
"Praise a colleague" | PickColleague | WritePraise | PostMessage_Activity(channel: "kudos");
