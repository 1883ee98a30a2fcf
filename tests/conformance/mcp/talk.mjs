// Drives a server with the official client: what every front end does, and what it is refused.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ElicitRequestSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

const say = (name, value) => console.log(JSON.stringify({ [name]: value }));
const [kind, target, token, flow, prompt] = process.argv.slice(2);
const asked = [];
let answer = { action: "decline" };

const client = new Client({ name: "conformance", version: "1" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, async (request) => {
  asked.push(request.params.message);
  return answer;
});
const told = new Set();
client.setNotificationHandler(ResourceUpdatedNotificationSchema, (message) => told.add(message.params.uri));
client.setNotificationHandler(ResourceListChangedNotificationSchema, () => told.add("list"));
const transport =
  kind === "http"
    ? new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: { Authorization: `Bearer ${token}` } } })
    : new StdioClientTransport({ command: target, args: ["mcp"], env: { ...process.env }, stderr: "inherit" });
await client.connect(transport);
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
const textOf = (result) => result.content[0].text;

say("server", client.getServerVersion());
const { tools } = await client.listTools(); // from now on the client checks results with their schemas
say("tools", tools.map((tool) => tool.name));

const progress = [];
const spec = "name: Echo\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value\n";
const made = await call("create_flow_from_spec", { spec }, { onprogress: (one) => progress.push(one.message) });
say("made", made.structuredContent);
say("progress", progress);
const id = made.structuredContent.flow.id;
say("run", (await call("run_flow", { flow_id: id, input: "hi" })).structuredContent.run);

const wrong = await call("add_component", { flow_id: id, type: 7 });
say("wrong", { isError: wrong.isError, text: textOf(wrong) });
say("unknown", await client.callTool({ name: "nothing", arguments: {} }).then(() => null, (error) => error.code));

if (kind === "http") {
  const removal = { flow_id: flow, component_id: prompt };
  const denied = await call("remove_component", removal);
  say("denied", { isError: denied.isError, text: textOf(denied) });
  answer = { action: "accept", content: { approve: true } };
  const agreed = await call("remove_component", removal);
  say("agreed", { isError: agreed.isError ?? false, version: agreed.structuredContent?.flow.version });
  say("asked", asked);
}

const batch = await call("batch", {
  actions: [
    { tool: "create_flow", args: { name: "Mine" } },
    { tool: "add_component", args: { flow_id: "$0.flow.id", type: "ChatInput" } },
  ],
});
say("batch", batch.structuredContent.results.map((one) => one.ok));

const uri = made.structuredContent.flow.uri;
await client.listResources();
await client.subscribeResource({ uri });
await call("add_component", { flow_id: id, type: "ChatOutput" });
for (let tries = 0; tries < 200 && !(told.has(uri) && told.has("list")); tries += 1) {
  await new Promise((resolve) => setTimeout(resolve, 50));
}
say("told", [told.has(uri), told.has("list")]);
say("resource", (await client.readResource({ uri })).contents[0].text);
say("templates", (await client.listResourceTemplates()).resourceTemplates.length);
const { prompts } = await client.listPrompts();
const built = await client.getPrompt({ name: prompts[0].name, arguments: { request: "Translate what I type" } });
say("prompt", built.messages[0].content.text.includes("Translate what I type"));

if (kind === "http") {
  const stop = new AbortController();
  const onprogress = (one) => one.message.startsWith("Running Chat") && stop.abort();
  const stopped = await call("run_flow", { flow_id: id, input: "hang" }, { signal: stop.signal, onprogress }).then(
    () => "answered",
    () => "stopped",
  );
  say("stopped", stopped);
  await transport.terminateSession();
}
await client.close();
say("closed", true);
process.exit(0);
