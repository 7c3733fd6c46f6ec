// Carries out a process with a person as the agent at the address that is given: node a2a_client.js URL
// Prints each thing that it was told, as a list of JSON.
import { SendMessageRequest, TaskState } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";

const client = await new ClientFactory().createFromUrl(process.argv[2]);
const told = [];
let task = "";

async function send(messageId, ...parts) {
  const request = SendMessageRequest.fromJSON({ message: { messageId, taskId: task, role: "ROLE_USER", parts } });
  for await (const { payload } of client.sendMessageStream(request)) {
    task = payload.value.id ?? task;
    const { status, artifact, artifacts } = payload.value;
    const part = [status?.message, artifact, ...(artifacts ?? [])].find((each) => each)?.parts[0];
    const value = part === undefined ? null : JSON.parse(part.content.value);
    told.push([payload.$case, status === undefined ? null : TaskState[status.state], value]);
  }
}

await send("m1", { text: "Write to Ann." });
await send("m2", { data: { decision: "Approve" } });
console.log(JSON.stringify(told));
