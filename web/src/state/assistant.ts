/** The conversation: its messages, the turn that runs, and what waits to be sent. */

import { create } from "zustand";

import { focusAfterAnswer } from "../assistant/focus";
import { afterEvent, answered, message, ofTranscript, openIn, reopened, settledBy, withoutRepeated } from "../assistant/parts";
import type { Answer, Message } from "../assistant/parts";
import type { Decision, Event, TranscriptMessage } from "../api/contract";
import { RequestFailed, request } from "../api/http";
import { happened, measured } from "../api/measured";
import { cancelTurn, followTurn, startTurn } from "../api/turns";
import { kept } from "./kept";
import { useFlow } from "./flow";
import { useRun } from "./run";

interface Sent {
  text: string;
  files: string[];
  approvals?: Record<string, Decision>;
}

interface AssistantState {
  session: string;
  messages: Message[];
  turn: string | null;
  isConnected: boolean;
  /** What was typed while a turn ran; sent when it has ended. */
  queue: Sent[];
  /** What was not taken because the session had ended; it goes back into its field. */
  refused: Sent | null;
  model: string | null;
  applies: "ask" | "always";
  startNew: () => void;
  open: (session: string) => Promise<void>;
  send: (text: string, files?: string[]) => Promise<void>;
  /** Answers what waits; `state` is what the card says then. */
  answer: (id: string, decision: Decision, state?: Answer) => Promise<void>;
  /** Answers several questions alike, in one turn. */
  answerAll: (ids: readonly string[], decision: Decision, state?: Answer) => Promise<void>;
  stop: () => Promise<void>;
  /** Takes the last message back, with what it did to the flow, and sends it again, or another in its place. */
  again: (text?: string) => Promise<void>;
  /** Says something of the page itself; it is no part of the conversation. */
  tell: (text: string) => void;
  /** Gives what was refused to its field. */
  takeBack: () => void;
  choose: (model: string | null) => void;
  skipAll: (on: boolean) => void;
}

export function newSession(): string {
  return `page_${crypto.randomUUID()}`;
}

let leaving = new AbortController();

export const useAssistant = create<AssistantState>((set, get) => {
  const update = (id: string, change: (one: Message) => Message): void =>
    set((state) => ({ messages: state.messages.map((one) => (one.id === id ? change(one) : one)) }));

  const follow = async (turn: string, events: AsyncGenerator<Event>, answers: readonly string[] = []): Promise<void> => {
    let [isDone, isTaken] = [false, false];
    set({ turn, isConnected: true });
    kept.turn = { session: get().session, turn };
    try {
      for await (const event of events) {
        isTaken = true;
        if (event.event === "flow_update") useFlow.getState().turnChanges(event);
        if (event.event === "complete") useFlow.getState().turnEnds(event.data.flow, event.data.version ?? null, event.data.proposal === undefined ? event.data.faults : []);
        if (event.event === "error" || event.event === "cancelled") useFlow.getState().turnEnds(null, event.version ?? null);
        if (event.event === "complete" && event.data.run?.error === null) useRun.getState().forgetFailure();
        update(turn, (one) => afterEvent(one, event));
        isDone ||= event.event === "complete";
        if (event.event === "complete") noteChanges(get().messages.find((one) => one.id === turn));
      }
    } catch (error) {
      if (leaving.signal.aborted) return;
      const problem = error instanceof RequestFailed ? error.problem : { code: "internal", message: String(error), fix: "" };
      const { asked } = kept;
      if (!isTaken && error instanceof RequestFailed && error.problem.status === 401 && asked?.turn === turn && asked.text !== "") {
        const before = get().refused;
        const refused = { text: [before?.text, asked.text].filter(Boolean).join("\n"), files: [...(before?.files ?? []), ...asked.files] };
        set((state) => ({ refused, messages: state.messages.filter((one) => one.id !== turn && one.id !== `${turn}-user`) }));
      }
      const failure: Event = { event: "error", code: problem.code, message: problem.message, fix: problem.fix };
      update(turn, (one) => afterEvent(one, failure));
      useFlow.getState().turnEnds(null, null);
    }
    const waiting = () => openIn(get().messages.filter((one) => one.id !== turn));
    if (waiting().size > 0 || answers.length > 0) await settle(get().session, isDone ? [] : answers);
    update(turn, (one) => withoutRepeated(one, waiting()));
    kept.turn = null;
    kept.asked = null;
    kept.begin(get().session);
    const offered = get().messages.find((one) => one.id === turn)?.parts.find((part) => part.kind === "proposal");
    if (get().applies === "always" && offered?.id != null && offered.state === "open") {
      const approvals = { [offered.id]: { decision: "approve" as const } };
      const id = offered.id;
      set((state) => ({ queue: [{ text: "", files: [], approvals }, ...state.queue], messages: state.messages.map((one) => answered(one, id, "approved")) }));
    }
    set({ turn: null, isConnected: true });
    const [next, ...rest] = get().queue;
    if (next !== undefined) {
      set({ queue: rest });
      await start(next);
    }
  };

  /** Brings what waits to what the server knows of it.
   * @param unsure - what was answered by a turn that failed: it waits again, unless the server took the answer.
   */
  const settle = async (session: string, unsure: readonly string[]): Promise<void> => {
    let stored: Message[] = [];
    try {
      stored = ofTranscript(await transcript(session));
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error; // what waits is asked about once more when it is answered
    }
    if (get().session === session) set((state) => ({ messages: settledBy(reopened(state.messages, unsure), stored) }));
  };

  const options = () => ({ signal: leaving.signal, onConnection: (isConnected: boolean) => set({ isConnected }) });

  const start = async ({ text, files, approvals }: Sent): Promise<void> => {
    const turn = crypto.randomUUID();
    const { session, model, applies } = get();
    const [provider, ...name] = model === null ? [] : model.split(":");
    const own = userMessage(turn, text, files);
    kept.asked = { turn, text, files };
    set((state) => ({ messages: [...state.messages, ...own, { ...message(turn, "assistant"), isRunning: true }] }));
    await useFlow.getState().turnBegins();
    const events = startTurn(
      {
        input_value: text,
        session_id: session,
        flow_id: useFlow.getState().id,
        turn_id: turn,
        files,
        apply: applies,
        provider: provider ?? null,
        model_name: name.length > 0 ? name.join(":") : null,
        approvals: approvals ?? {},
      },
      options(),
    );
    await follow(turn, events, Object.keys(approvals ?? {}));
  };

  return {
    session: newSession(),
    messages: [],
    turn: null,
    isConnected: true,
    queue: [],
    refused: null,
    model: kept.model,
    applies: kept.skipsAll ? "always" : "ask",
    startNew: () => {
      leaving.abort();
      leaving = new AbortController();
      set({ session: newSession(), messages: [], turn: null, queue: [], refused: null });
    },
    open: async (session) => {
      leaving.abort();
      leaving = new AbortController();
      set({ session, messages: [], turn: null, queue: [] });
      const stored = kept.isBegun(session) ? await transcript(session) : [];
      if (get().session !== session) return;
      set({ messages: ofTranscript(stored) });
      const running = kept.turn;
      if (running?.session !== session) return;
      const asked = kept.asked?.turn === running.turn ? kept.asked : { text: "", files: [] };
      set((state) => ({
        messages: [
          ...state.messages.filter((one) => one.id !== running.turn && one.id !== `${running.turn}-user`),
          ...userMessage(running.turn, asked.text, asked.files),
          { ...message(running.turn, "assistant"), isRunning: true },
        ],
      }));
      await useFlow.getState().turnBegins();
      void follow(running.turn, followTurn(running.turn, 0, options()));
    },
    send: async (text, files = []) => {
      if (get().turn !== null) set((state) => ({ queue: [...state.queue, { text, files }] }));
      else await start({ text, files });
    },
    answer: (id, decision, state) => get().answerAll([id], decision, state),
    answerAll: async (ids, decision, state = decision.decision === "approve" ? "approved" : "denied") => {
      set((before) => ({ messages: before.messages.map((one) => ids.reduce((message, id) => answered(message, id, state), one)) }));
      focusAfterAnswer();
      const sent = { text: "", files: [], approvals: Object.fromEntries(ids.map((id) => [id, decision])) };
      if (get().turn !== null) set((before) => ({ queue: [...before.queue, sent] }));
      else await start(sent);
    },
    stop: async () => {
      const { turn } = get();
      if (turn !== null) await cancelTurn(turn);
    },
    again: async (changed) => {
      const { messages, session, turn } = get();
      const at = messages.findLastIndex((one) => one.role === "user");
      const last = messages[at];
      if (last === undefined || turn !== null) return;
      const text = changed ?? last.parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
      const json = { message: last.id.replace(/-user$/, ""), flow: true };
      await request("POST", `/api/v1/conversations/${encodeURIComponent(session)}/rewind`, { json });
      const flow = useFlow.getState().id;
      if (flow !== null) await useFlow.getState().open(flow);
      set({ messages: messages.slice(0, at) });
      await start({ text, files: last.files });
    },
    tell: (text) => set((state) => ({ messages: [...state.messages, message(crypto.randomUUID(), "assistant", [{ kind: "notice", text }])] })),
    takeBack: () => set({ refused: null }),
    choose: (model) => {
      kept.model = model;
      set({ model });
    },
    skipAll: (on) => {
      kept.skipsAll = on;
      happened({ name: "assistant.skip_all.toggled", enabled: on, session_id: get().session });
      set({ applies: on ? "always" : "ask" });
    },
  };
});

/** What the user sent with a turn; answers alone are no message. */
function userMessage(turn: string, text: string, files: string[]): Message[] {
  return text === "" ? [] : [message(`${turn}-user`, "user", [{ kind: "text", text }], files)];
}

function noteChanges(ended: Message | undefined): void {
  const count = ended?.parts.reduce((sum, part) => sum + (part.kind === "changes" ? part.rows.length : 0), 0) ?? 0;
  if (count > 0) measured({ name: "assistant_build_tasks_per_message", value: count });
}

async function transcript(session: string): Promise<TranscriptMessage[]> {
  try {
    const path = `/api/v1/conversations/${encodeURIComponent(session)}?limit=200`;
    return (await request<{ messages: TranscriptMessage[] }>("GET", path)).messages;
  } catch (error) {
    if (error instanceof RequestFailed && error.problem.status === 404) return []; // nothing was said in it yet
    throw error;
  }
}
