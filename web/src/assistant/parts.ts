/** A message as ordered parts, and how the events of a turn and stored transcripts become them. */

import type { CompleteData, Decision, Event, FlowDocument, Question, RunMetrics, Todo, TokenCount, TranscriptMessage } from "../api/contract";

import { changeOf, withChange } from "./changes";
import type { Change } from "./changes";

export type Answer = "open" | "replaced" | "approved" | "denied" | "withdrawn";

/** Accepts a proposal in place of what is on the canvas. */
export const REPLACE: Decision = { decision: "approve", args: { replace: true } };

export type Part =
  | { kind: "text"; text: string }
  | { kind: "remark"; text: string }
  | { kind: "reasoning"; text: string }
  | { kind: "tool"; id: string; name: string; arguments: Record<string, unknown>; result: string | null; failed: boolean; denied?: boolean }
  | { kind: "todos"; todos: Todo[] }
  | { kind: "changes"; rows: Change[] }
  | { kind: "file"; path: string; size: number; change: string; content: string }
  | { kind: "proposal"; id: string | null; name: string; flow: FlowDocument | null; state: Answer }
  | { kind: "question"; question: Question; state: Answer }
  | { kind: "component"; name: string; code: string; validated: boolean }
  | { kind: "run"; output: string | null; error: string | null; isTold: boolean; metrics: RunMetrics | null; models: string[]; hosts: string[] }
  | { kind: "record"; text: string }
  | { kind: "notice"; text: string }
  | { kind: "cancelled"; text: string; kept: string | null }
  | { kind: "error"; code: string; message: string; fix: string; turn: string | null; kept: string | null };

export interface Message {
  id: string;
  role: "user" | "assistant";
  parts: Part[];
  files: string[];
  /** What happens now; gone when the turn has ended. */
  status: string | null;
  /** When that began, in milliseconds; null while it is not known. */
  since: number | null;
  isRunning: boolean;
  usage: TokenCount | null;
  seconds: number | null;
  model: string | null;
}

export function message(id: string, role: Message["role"], parts: Part[] = [], files: string[] = []): Message {
  return { id, role, parts, files, status: null, since: null, isRunning: false, usage: null, seconds: null, model: null };
}

/** The assistant's message after one more event of its turn.
 * @param now - when it came, in milliseconds.
 */
export function afterEvent(before: Message, event: Event, now = Date.now()): Message {
  switch (event.event) {
    case "progress":
      return { ...before, status: event.message, since: event.message === before.status ? before.since : now };
    case "token":
      return { ...withParts(before, extended(before.parts, "text", event.chunk, false)), status: null, since: before.status === null ? before.since : now };
    case "remark":
      return withParts(before, extended(before.parts, "remark", event.chunk, event.is_new));
    case "reasoning":
      return withParts(before, extended(before.parts, "reasoning", event.chunk, event.is_new));
    case "tool_call": {
      const { tool_call_id: id, tool_name: name } = event;
      return withParts(before, [...before.parts, { kind: "tool", id, name, arguments: event.arguments, result: null, failed: false }]);
    }
    case "tool_result":
      return { ...withParts(before, withResult(before.parts, event.tool_call_id, event.tool_name, event.content, event.is_error, event.denied === true)), status: null, since: now };
    case "todos":
      return withParts(before, [...before.parts.filter((part) => part.kind !== "todos"), { kind: "todos", todos: event.todos }]);
    case "file_written": {
      const rest = before.parts.filter((part) => part.kind !== "file" || part.path !== event.path);
      return withParts(before, [...rest, { kind: "file", path: event.path, size: event.size, change: event.action, content: event.content }]);
    }
    case "flow_update": {
      const change = changeOf(event);
      return change === null ? before : withParts(before, withRow(before.parts, change));
    }
    case "flow_preview": {
      const rest = before.parts.filter((part) => part.kind !== "proposal");
      return withParts(before, [...rest, { kind: "proposal", id: null, name: event.name, flow: event.flow, state: "open" }]);
    }
    case "complete":
      return completed(before, event.data);
    case "error": {
      const { code, message: told, fix, turn_id: turn = null } = event;
      const failure: Part = { kind: "error", code, message: told, fix, turn, kept: keptOf(event.record?.text) };
      return ended(withParts(before, [...withoutOffers(before.parts), failure]));
    }
    case "cancelled":
      return ended(
        withParts(before, [...withoutOffers(before.parts), { kind: "cancelled", text: event.message, kept: keptOf(event.record?.text) }]),
      );
    default:
      return before;
  }
}

/** What a message says when its answers are in. */
export function answered(before: Message, id: string, state: Answer): Message {
  return standing(before, new Map([[id, state]]), (part) => part.state === "open");
}

/** Messages in which what was answered by a turn that failed waits again: a call that went on may have asked before under the same id. */
export function reopened(messages: readonly Message[], ids: readonly string[]): Message[] {
  const asked = new Map(messages.flatMap((one) => asksOf(one).map((id): [string, Message] => [id, one])));
  return messages.map((one) => standing(one, new Map(ids.filter((id) => asked.get(id) === one).map((id) => [id, "open"]))));
}

type Asked = Extract<Part, { state: Answer }>;

/** The message with what is asked in it in other states, by its id. */
function standing(before: Message, states: ReadonlyMap<string, Answer>, isMeant: (part: Asked) => boolean = () => true): Message {
  return withParts(
    before,
    before.parts.map((part) => {
      if (part.kind !== "question" && part.kind !== "proposal") return part;
      const id = part.kind === "question" ? part.question.id : part.id;
      const state = id === null ? undefined : states.get(id);
      return state === undefined || !isMeant(part) ? part : { ...part, state };
    }),
  );
}

/** The ids of what is asked in a message. */
function asksOf({ parts }: Message): string[] {
  return parts.flatMap((part) => (part.kind === "question" ? [part.question.id] : part.kind === "proposal" && part.id !== null ? [part.id] : []));
}

/** What is asked in some messages and waits for an answer, by its id. */
export function openIn(messages: readonly Message[]): Set<string> {
  const parts = messages.flatMap((one) => one.parts);
  return new Set(parts.flatMap((part) => (part.kind === "question" && part.state === "open" ? [part.question.id] : part.kind === "proposal" && part.state === "open" && part.id !== null ? [part.id] : [])));
}

/** Messages in which what waits stands as a stored conversation says: it may have been answered in words, or elsewhere. */
export function settledBy(messages: readonly Message[], stored: readonly Message[]): Message[] {
  const known = new Map(
    stored.map((one): [string, Map<string, Answer>] => {
      const states = one.parts.flatMap((part): [string, Answer][] => {
        if (part.kind === "question") return [[part.question.id, part.state]];
        return part.kind === "proposal" && part.id !== null ? [[part.id, part.state]] : [];
      });
      return [one.id, new Map(states.filter(([, state]) => state !== "open"))];
    }),
  );
  return messages.map((one) => standing(one, known.get(one.id) ?? new Map()));
}

/** The message without questions that earlier ones ask already. */
export function withoutRepeated(one: Message, asked: ReadonlySet<string>): Message {
  return withParts(one, one.parts.filter((part) => part.kind !== "question" || !asked.has(part.question.id)));
}

/** The messages of a stored conversation: the user's words, and what the assistant did and said. */
export function ofTranscript(stored: TranscriptMessage[]): Message[] {
  const given = answersIn(stored);
  return stored.flatMap((one) => {
    const stateOf = (id: string, isFlow = false): Answer => {
      const answer = given.get(one)?.get(id);
      if (answer === undefined) return "open";
      if (answer.decision !== "changed") return answer.decision;
      if (isFlow) return "replaced";
      return answer.reason !== "" ? "denied" : "approved"; // with words of what to do instead
    };
    const said = one.parts.flatMap((part) => (part.kind === "user" ? [part] : []));
    let parts: Part[] = [];
    for (const part of one.parts) {
      switch (part.kind) {
        case "assistant":
          parts.push({ kind: "text", text: part.text });
          break;
        case "remark":
          parts.push({ kind: "remark", text: part.text });
          break;
        case "tool_call":
          parts.push({ kind: "tool", id: part.id, name: part.tool, arguments: part.arguments, result: null, failed: false });
          break;
        case "tool_result":
          parts = withResult(parts, part.id, part.tool, part.content, !part.ok, isDenied(one, part.id));
          break;
        case "record":
          if (!part.disagrees) parts.push({ kind: "record", text: part.text });
          break;
        case "approval":
          parts.push({ kind: "question", question: questionOf(part.id, part.approval), state: stateOf(part.id) });
          break;
        case "file":
          if (part.change !== "deleted") parts.push({ kind: "file", path: part.path, size: part.size, change: part.change, content: "" });
          break;
        case "run":
          if (part.by === "user") parts.push({ kind: "run", output: part.output, error: part.error, isTold: isIn(one.parts, part.error), metrics: null, models: [], hosts: [] });
          break;
        case "failure":
          if (part.code === "cancelled") parts.push({ kind: "cancelled", text: part.message, kept: null });
          else parts.push({ kind: "error", code: part.code, message: part.message, fix: part.fix, turn: one.id, kept: null });
          break;
        case "proposal":
          if (part.status === "applied" && one.parts.some(({ kind }) => kind === "answer")) break; // the card that was answered says it
          parts.push({
            kind: "proposal",
            id: part.id,
            name: part.name,
            flow: (part.flow) ?? null,
            state: part.status === "applied" ? "approved" : part.id === null ? "withdrawn" : stateOf(part.id, true),
          });
          break;
        default:
          break;
      }
    }
    const user = message(`${one.id}-user`, "user", said.map(({ text }) => ({ kind: "text", text })), said.flatMap(({ files }) => files));
    return [...(said.length > 0 ? [user] : []), message(one.id, "assistant", unrepeated(inOrder(keptBeside(parts))))];
  });
}

type StoredAnswer = Extract<TranscriptMessage["parts"][number], { kind: "answer" }>;

/** The answers to what each message asks. A call that goes on may ask again under the same id: an answer is to what was asked last before it. */
function answersIn(stored: readonly TranscriptMessage[]): Map<TranscriptMessage, Map<string, StoredAnswer>> {
  const found = new Map<TranscriptMessage, Map<string, StoredAnswer>>();
  const last = new Map<string, TranscriptMessage>();
  for (const one of stored) {
    const own = new Map<string, StoredAnswer>();
    found.set(one, own);
    for (const part of one.parts) if (part.kind === "answer") (found.get(last.get(part.id) ?? one) ?? own).set(part.id, part);
    for (const part of one.parts) if ((part.kind === "approval" || part.kind === "proposal") && part.id !== null) last.set(part.id, one);
  }
  return found;
}

/** A stored approval as the stream asks it. */
function questionOf(id: string, approval: StoredApproval): Question {
  if (approval.kind !== "edit") return { ...approval, id } as unknown as Question;
  const change = (one: Record<string, unknown>) => ({ component_id: one["node"], field: one["field"], old_value: one["old"] ?? null, new_value: one["new"] ?? null });
  const { edit, also, reason, done, why } = approval;
  return { id, kind: "edit", component_type: "", ...change(edit), also: also.map(change), description: reason, reason, done, why } as unknown as Question;
}

type StoredApproval = Extract<TranscriptMessage["parts"][number], { kind: "approval" }>["approval"];

/** What a turn that did not come to its end had done stands in its card. */
function keptBeside(parts: Part[]): Part[] {
  const record = parts.find((part) => part.kind === "record");
  if (record === undefined || !parts.some((part) => part.kind === "error" || part.kind === "cancelled")) return parts;
  return parts.filter((part) => part !== record).map((part) => (part.kind === "error" || part.kind === "cancelled" ? { ...part, kept: record.text } : part));
}

const PLACES: Partial<Record<Part["kind"], number>> = { text: 1, component: 2, record: 3, notice: 4, run: 5, question: 6, cancelled: 7, error: 7 };

/** The parts of a stored message in the order in which they are told while the turn runs. */
function inOrder(parts: Part[]): Part[] {
  return [...parts].sort((one, other) => (PLACES[one.kind] ?? 0) - (PLACES[other.kind] ?? 0));
}

/** The record leaves out what the answer has said as its whole text. */
function unrepeated(parts: Part[]): Part[] {
  const said = parts.flatMap((part) => (part.kind === "text" && part.text.trim() !== "" ? [part.text.trim()] : []));
  return parts.flatMap((part) => {
    if (part.kind !== "record") return [part];
    const repeated = said.find((text) => part.text.startsWith(text));
    return repeated === undefined ? [part] : recorded(part.text.slice(repeated.length).trim());
  });
}

function completed(before: Message, data: CompleteData): Message {
  const parts = before.parts.filter((part) => part.kind !== "proposal" || data.proposal !== undefined);
  const settled = parts.map((part) =>
    part.kind === "proposal" ? { ...part, id: data.proposal_id ?? null, flow: data.proposal ?? part.flow } : part,
  );
  const isAnswered = settled.some((part) => part.kind === "text" || (part.kind === "remark" && part.text.trim() === data.result.trim()));
  const text: Part[] = isAnswered || data.result === "" ? [] : [{ kind: "text", text: data.result }];
  const record = data.record.disagrees ? [] : recorded(data.record.text);
  const told = [...settled, ...text].flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
  const run = data.run;
  const isTold = run?.error != null && told.includes(run.error.message);
  const error = run?.error == null ? null : [run.error.message, run.error.fix].filter(Boolean).join(" ");
  const runs: Part[] =
    run === undefined
      ? []
      : [{ kind: "run", output: run.output, error, isTold, metrics: run.metrics, models: Object.keys(run.usage), hosts: (run.hosts ?? []).map(({ host }) => host) }];
  const component: Part[] =
    data.component_code === undefined
      ? []
      : [{ kind: "component", name: data.class_name ?? "", code: data.component_code, validated: data.validated !== false }];
  const questions = (data.approvals ?? []).map((question): Part => ({ kind: "question", question, state: "open" }));
  const notes = data.caveats.filter((caveat) => !told.includes(caveat)).map((caveat): Part => ({ kind: "notice", text: caveat }));
  const done = withParts(before, unrepeated([...settled, ...text, ...component, ...record, ...notes, ...runs, ...questions]));
  return { ...ended(done), usage: data.usage ?? null, seconds: data.duration_seconds, model: data.model };
}

/** Whether a stored message says an error in its own words already. */
function isIn(parts: TranscriptMessage["parts"], error: string | null): boolean {
  return error !== null && parts.some((part) => part.kind === "assistant" && part.text.includes(error));
}

function withRow(parts: Part[], change: Change): Part[] {
  const listed = parts.find((part) => part.kind === "changes");
  if (listed === undefined) return [...parts, { kind: "changes", rows: [change] }];
  return parts.map((part) => (part === listed ? { ...listed, rows: withChange(listed.rows, change) } : part));
}

function keptOf(record: string | undefined): string | null {
  return record === undefined || record === "" ? null : record;
}

function recorded(text: string | undefined): Part[] {
  return text === undefined || text === "" ? [] : [{ kind: "record", text }];
}

function ended(before: Message): Message {
  return { ...before, status: null, since: null, isRunning: false };
}

/** Parts without a flow that was shown on the way: a turn that did not come to its end offers nothing. */
function withoutOffers(parts: Part[]): Part[] {
  return parts.filter((part) => part.kind !== "proposal");
}

function withParts(before: Message, parts: Part[]): Message {
  return { ...before, parts };
}

function extended(parts: Part[], kind: "text" | "remark" | "reasoning", chunk: string, isNew: boolean): Part[] {
  const last = parts.at(-1);
  if (last?.kind === kind && !isNew) return [...parts.slice(0, -1), { kind, text: last.text + chunk }];
  return [...parts, { kind, text: chunk.trimStart() }];
}

/** Whether a message says no to what a call of its has asked. */
function isDenied({ parts }: TranscriptMessage, call: string): boolean {
  return parts.some((part) => part.kind === "answer" && part.id === call && (part.decision === "denied" || (part.decision === "changed" && part.reason !== "")));
}

function withResult(parts: Part[], id: string, name: string, result: string, failed: boolean, denied: boolean): Part[] {
  const known = parts.some((part) => part.kind === "tool" && part.id === id);
  const all: Part[] = known ? parts : [...parts, { kind: "tool", id, name, arguments: {}, result: null, failed: false }];
  return all.map((part) => (part.kind === "tool" && part.id === id ? { ...part, result, failed, ...(denied ? { denied } : {}) } : part));
}
