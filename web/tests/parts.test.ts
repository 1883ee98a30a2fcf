import { describe, expect, test } from "vitest";

import type { CompleteData, Event, Question, TranscriptMessage } from "../src/api/contract";
import { afterEvent, answered, message, ofTranscript, reopened, settledBy } from "../src/assistant/parts";
import type { Answer, Message } from "../src/assistant/parts";
import { echo } from "./flows";

const told = (...events: object[]): Message =>
  events.reduce<Message>((one, event) => afterEvent(one, event as Event), { ...message("m", "assistant"), isRunning: true });
const complete = (data: Partial<CompleteData>) => ({
  event: "complete",
  data: { result: "Done.", caveats: [], faults: [], model: null, duration_seconds: 1, record: { text: "", disagrees: false }, ...data },
});
const kinds = (one: Message) => one.parts.map((part) => part.kind);

describe("events become parts in the order in which they happen", () => {
  test("tokens are one text, and the result is not told twice", () => {
    const one = told({ event: "token", chunk: "Hel" }, { event: "token", chunk: "lo." }, complete({ result: "Hello." }));
    expect(one.parts).toEqual([{ kind: "text", text: "Hello." }]);
    expect(one).toMatchObject({ isRunning: false, status: null, seconds: 1 });
  });

  test("a tool's result belongs to its call, also when the call was made in an earlier turn", () => {
    const call = { event: "tool_call", tool_call_id: "c", tool_name: "add", arguments: { type: "A" } };
    const result = { event: "tool_result", tool_call_id: "c", tool_name: "add", content: "no", is_error: true };
    expect(told(call, result).parts).toEqual([{ kind: "tool", id: "c", name: "add", arguments: { type: "A" }, result: "no", failed: true }]);
    expect(told(result).parts).toMatchObject([{ kind: "tool", id: "c", result: "no" }]);
  });

  test("remarks stand between the calls, and the answer after them is told whole", () => {
    const remark = (chunk: string, is_new: boolean) => ({ event: "remark", chunk, is_new });
    const call = (id: string) => ({ event: "tool_call", tool_call_id: id, tool_name: "add", arguments: {} });
    const one = told(remark("First I ", true), remark("look.", false), call("a"), remark("Now I add.", true), call("b"), complete({ result: "Added." }));
    expect(one.parts.map((part) => (part.kind === "tool" ? part.id : "text" in part ? part.text : ""))).toEqual(["First I look.", "a", "Now I add.", "b", "Added."]);
    expect(kinds(one)).toEqual(["remark", "tool", "remark", "tool", "text"]);
    expect(kinds(told(remark("May I?", true), call("a"), complete({ result: "May I?" })))).toEqual(["remark", "tool"]);
  });

  test("a step knows since when it goes on, and one that is told again goes on with it", () => {
    const step = (text: string) => ({ event: "progress", step: "generating", message: text, attempt: 1, max_attempts: 1 }) as Event;
    const start = { ...message("m", "assistant"), isRunning: true };
    const first = afterEvent(start, step("Building…"), 1_000);
    expect(afterEvent(first, step("Building…"), 5_000).since).toBe(1_000);
    expect(afterEvent(first, step("Running…"), 6_000).since).toBe(6_000);
    expect(afterEvent(first, complete({}) as Event, 9_000).since).toBeNull();
    const result = { event: "tool_result", tool_call_id: "a", tool_name: "add", content: "", is_error: false } as Event;
    expect(afterEvent(first, result, 7_000)).toMatchObject({ status: null, since: 7_000 });
  });

  test("progress is a status while the turn runs, and never a part", () => {
    const running = told({ event: "progress", step: "generating", message: "Reading…", attempt: 1, max_attempts: 1 });
    expect(running).toMatchObject({ status: "Reading…", parts: [] });
    expect(told({ event: "progress", message: "Reading…" }, complete({})).status).toBeNull();
  });

  test("the last to-do list and the last proposal count", () => {
    const todos = (content: string) => ({ event: "todos", todos: [{ content, status: "pending" }] });
    const preview = (name: string) => ({ event: "flow_preview", name, flow: echo(), node_count: 3, edge_count: 0, graph: "" });
    const one = told(todos("a"), todos("b"), preview("One"), preview("Two"), complete({ proposal: echo(), proposal_id: "p" }));
    expect(kinds(one)).toEqual(["todos", "proposal", "text"]);
    expect(one.parts[1]).toMatchObject({ name: "Two", id: "p", state: "open" });
  });

  test("a flow that was applied, or whose turn failed, is not offered", () => {
    const preview = { event: "flow_preview", name: "One", flow: echo() };
    expect(kinds(told(preview, complete({})))).toEqual(["text"]);
    expect(kinds(told(preview, { event: "error", code: "x", message: "No.", fix: "" }))).toEqual(["error"]);
    expect(kinds(told(preview, { event: "cancelled", message: "Stopped.", record: { text: "Added A." } }))).toEqual(["cancelled"]);
  });

  test("the record does not repeat the answer", () => {
    const record = (text: string) => ({ text, disagrees: false }) as CompleteData["record"];
    const waiting = complete({ result: "I am waiting for your answer.", record: record("I am waiting for your answer. Nothing was changed.") });
    expect(told(waiting).parts.at(-1)).toEqual({ kind: "record", text: "Nothing was changed." });
    expect(kinds(told(complete({ result: "Nothing was done.", record: record("Nothing was done.") })))).toEqual(["text"]);
  });

  test("the record stands beside the answer unless the answer begins with it", () => {
    const record = (disagrees: boolean) => ({ text: "Nothing was done.", disagrees }) as CompleteData["record"];
    expect(kinds(told(complete({ record: record(false) })))).toEqual(["text", "record"]);
    expect(kinds(told(complete({ record: record(true) })))).toEqual(["text"]);
  });

  test("questions wait until they are answered, and an answer is given once", () => {
    const plan = { id: "q", kind: "plan", markdown: "1. Build" } as const;
    const waiting = told(complete({ approvals: [plan] }));
    expect(waiting.parts.at(-1)).toEqual({ kind: "question", question: plan, state: "open" });
    const denied = answered(waiting, "q", "denied");
    expect(denied.parts.at(-1)).toMatchObject({ state: "denied" });
    expect(answered(denied, "q", "approved")).toEqual(denied);
    expect(answered(waiting, "other", "approved")).toEqual(waiting);
  });
});

test("a stored conversation reads as it was told", () => {
  const stored = [
    {
      id: "t1",
      at: "",
      flow_id: null,
      version: null,
      parts: [
        { kind: "user", text: "Plan it", files: ["a.txt"] },
        { kind: "tool_call", id: "c", tool: "propose_plan", arguments: {} },
        { kind: "approval", id: "c", approval: { kind: "plan", markdown: "1." } },
        { kind: "assistant", text: "Shall I?" },
      ],
    },
    {
      id: "t2",
      at: "",
      flow_id: null,
      version: null,
      parts: [
        { kind: "answer", id: "c", decision: "denied", reason: "" },
        { kind: "tool_result", id: "c", tool: "propose_plan", content: "denied", ok: false },
        { kind: "assistant", text: "Then not." },
      ],
    },
  ] as unknown as TranscriptMessage[];
  const [asked, answer, then] = ofTranscript(stored);
  expect(asked).toMatchObject({ role: "user", files: ["a.txt"] });
  expect(answer?.parts.map((part) => part.kind)).toEqual(["tool", "text", "question"]);
  expect(answer?.parts[2]).toMatchObject({ state: "denied" });
  expect(then?.parts.map((part) => part.kind)).toEqual(["tool", "text"]);
});

test("what the answer says is not told again beside it", () => {
  const failed = { output: null, usage: {}, hosts: [], metrics: {}, error: { message: "No key.", fix: "Set one." } } as unknown as CompleteData["run"];
  const one = told(complete({ result: "Built. Note: it was not run. The run failed: No key.", caveats: ["it was not run", "Another."], ...(failed === undefined ? {} : { run: failed }) }));
  expect(one.parts.filter((part) => part.kind === "notice")).toEqual([{ kind: "notice", text: "Another." }]);
  expect(one.parts.at(-1)).toMatchObject({ kind: "run", isTold: true });
});

test.each([
  ["changed", "replaced"],
  ["approved", "approved"],
  ["denied", "denied"],
])("a proposal that was answered with %s says so once", (decision, state) => {
  const applied = decision === "denied" ? [] : [{ kind: "proposal", id: null, name: "Echo", flow: echo(), status: "applied" }];
  const stored = [
    { id: "t1", at: "", flow_id: null, version: null, parts: [{ kind: "proposal", id: "proposal-1", name: "Echo", flow: echo(), status: "offered" }] },
    { id: "t2", at: "", flow_id: null, version: null, parts: [{ kind: "answer", id: "proposal-1", decision, reason: "" }, ...applied] },
  ] as unknown as TranscriptMessage[];
  const [asked, then] = ofTranscript(stored);
  expect(asked?.parts[0]).toMatchObject({ state });
  expect(then?.parts).toEqual([]);
});

test("a flow that was put on the canvas without a question has its card", () => {
  const stored = [
    { id: "t1", at: "", flow_id: null, version: null, parts: [{ kind: "proposal", id: null, name: "Echo", flow: echo(), status: "applied" }] },
  ] as unknown as TranscriptMessage[];
  expect(ofTranscript(stored)[0]?.parts[0]).toMatchObject({ kind: "proposal", state: "approved" });
});

const asks = (state: Answer): Message[] => [
  message("a", "assistant", [
    { kind: "question", question: { id: "q", kind: "secret" } as unknown as Question, state },
    { kind: "proposal", id: "p", name: "Echo", flow: null, state },
  ]),
];
const states = (all: readonly Message[]) => all.flatMap((one) => one.parts).map((part) => ("state" in part ? part.state : null));

test.each<[Answer, Answer, Answer]>([
  ["open", "denied", "denied"],
  ["approved", "denied", "denied"],
  ["approved", "withdrawn", "withdrawn"],
  ["approved", "open", "approved"], // the answer waits until the turn that runs has ended
  ["open", "open", "open"],
])("what is %s here and %s on the server is %s", (here, stored, then) => {
  expect(states(settledBy(asks(here), asks(stored)))).toEqual([then, then]);
});

test("an answer of a turn that failed counts for nothing, and one that the server took counts", () => {
  expect(states(reopened(asks("approved"), ["q"]))).toEqual(["open", "approved"]);
  expect(states(settledBy(reopened(asks("approved"), ["q", "p"]), asks("denied")))).toEqual(["denied", "denied"]);
});

test.each([
  ["Take another one", "denied"],
  ["", "approved"],
])("an approval that was changed with the words %j is %s after a reload", (reason, state) => {
  const stored = [
    { id: "1", parts: [{ kind: "approval", id: "q", approval: { kind: "secret" } }] },
    { id: "2", parts: [{ kind: "answer", id: "q", decision: "changed", reason }] },
  ];
  expect(states(ofTranscript(stored as unknown as TranscriptMessage[]))).toEqual([state]);
});

test("each question of a call that asks twice has the answer that was given to it", () => {
  const ask = { kind: "approval", id: "q", approval: { kind: "removal" } };
  const yes = { kind: "answer", id: "q", decision: "approved", reason: "" };
  const stored = [
    { id: "1", parts: [ask] },
    { id: "2", parts: [yes, ask] },
  ];
  const told = ofTranscript(stored as unknown as TranscriptMessage[]);
  expect(states(told)).toEqual(["approved", "open"]);
  const here = told.map((one) => ({ ...one, parts: one.parts.map((part) => ({ ...part, state: "open" }) as typeof part) }));
  expect(states(settledBy(here, told))).toEqual(["approved", "open"]);
  expect(states(reopened(told, ["q"]))).toEqual(["approved", "open"]);
  const both = ofTranscript([...stored, { id: "3", parts: [{ ...yes, decision: "denied" }] }] as unknown as TranscriptMessage[]);
  expect(states(both)).toEqual(["approved", "denied"]);
});

test("a call that the user said no to has not failed", () => {
  const event = { event: "tool_result", tool_call_id: "c", tool_name: "add", content: "no", is_error: true, denied: true } as unknown as Event;
  expect(told(event).parts.at(-1)).toMatchObject({ denied: true });
});
