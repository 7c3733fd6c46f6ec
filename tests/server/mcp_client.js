// Calls the program `letter` at the address that is given, and answers the person's question: node mcp_client.js URL
// Prints the forms that it was asked to show, the progress, and the result of the call.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: { form: {} } } });
const forms = [];
const progress = [];
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  forms.push(params);
  return { action: "accept", content: { decision: forms.length === 1 ? "Perhaps" : "Approve" } };
});
await client.connect(new StreamableHTTPClientTransport(new URL(`${process.argv[2]}/mcp`)));
const call = { name: "letter", arguments: { prompt: "Write to Ann." } };
const result = await client.callTool(call, undefined, { onprogress: (told) => progress.push(told) });
console.log(JSON.stringify({ forms, progress, result }));
await client.close();
