// Drives the server with @ag-ui/client: one line of JSON a run, with what the client made of it.
import { randomUUID } from "node:crypto";
import { HttpAgent as Current } from "@ag-ui/client";
import { HttpAgent as Old } from "@ag-ui/client-0";

const { SERVER, TOKEN, CLIENT, ENDPOINT = "/ag-ui" } = process.env;
const { steps, threadId = "thread", state } = JSON.parse(process.argv[2]);
const Agent = CLIENT === "old" ? Old : Current;
const headers = { Authorization: `Bearer ${TOKEN}` };
const agent = new Agent({ url: SERVER + ENDPOINT, threadId, headers, ...(state && { initialState: state }) });
let events = [];
let onEvent = () => {};
agent.subscribe({ onEvent: ({ event }) => (events.push(event), onEvent(event)) });
console.warn = () => {};
console.error = () => {};
process.on("uncaughtException", (error) => console.log(JSON.stringify({ uncaught: error.message })));

for (const step of steps) {
  events = [];
  onEvent = () => {};
  const size = agent.messages.length;
  if (step.message) agent.addMessage({ id: randomUUID(), role: "user", content: step.message });
  for (const [toolCallId, content] of Object.entries(step.results ?? {})) {
    const calls = agent.messages.flatMap((one) => one.toolCalls ?? []);
    const call = calls.findLast((one) => one.function.name === toolCallId)?.id ?? toolCallId;
    agent.addMessage({ id: randomUUID(), role: "tool", toolCallId: call, content });
  }
  const run = { tools: step.tools ?? [], forwardedProps: step.props ?? {}, ...(step.runId && { runId: step.runId }) };
  if (step.cancelAll) run.resume = agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: "cancelled" }));
  if (step.payload !== undefined)
    run.resume = agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload: step.payload }));
  if (step.resume) run.resume = step.resume;
  if (step.forget) agent.setMessages([]);
  let error = null;
  onEvent = async (event) => {
    if (event.type !== step.at) return;
    if (step.abort) agent.abortRun();
    if (step.stop) await fetch(`${SERVER}/api/v1/agentic/turns/${event.runId ?? step.runId}/cancel`, { method: "POST", headers });
  };
  try {
    await agent.runAgent(run);
  } catch (failure) {
    error = failure.message;
  }
  const messages = agent.messages.slice(size);
  const sent = JSON.stringify({ state: agent.state, messages: agent.messages, tools: run.tools }).length;
  console.log(JSON.stringify({ error, events, messages, state: agent.state, pending: agent.pendingInterrupts ?? [], sent, count: agent.messages.length }));
}
