/** Trying the flow: a chat with the flow itself, and what each node does while it runs. */

import { create } from "zustand";

import type { Schemas } from "../api/contract";
import { RequestFailed, request } from "../api/http";
import { RunRefused, cancelRun, followRun, startRun } from "../api/runs";
import type { RunEvent } from "../api/runs";
import { chatInputOf, idOf, named } from "../flow/document";
import { runsAlike } from "../flow/alike";
import { strings } from "../strings";
import { useFlow } from "./flow";
import { kept } from "./kept";

export type NodeState = "running" | "done" | "failed";

export interface Said {
  id: number;
  input: string;
  output: string;
  error: string | null;
  seconds: number | null;
  /** How many tokens of models it took. */
  tokens: number;
  /** Dollars that they cost; null when that is not known. */
  cost: number | null;
  files: readonly string[];
  /** Why nothing was answered, where a check of the flow says so. */
  why?: string;
}

/** Faults that let a flow run, and leave it without an answer: the likeliest reason first. */
const SILENT = ["missing_input", "unreachable", "no_output", "orphan"];

interface RunState {
  /** The flow that is tried. */
  flow: string | null;
  session: string;
  said: Said[];
  run: string | null;
  isRunning: boolean;
  /** Whether a run that goes on can be heard. */
  isConnected: boolean;
  nodes: ReadonlyMap<string, NodeState>;
  /** What each node gave in the last run. */
  values: ReadonlyMap<string, unknown>;
  /** The component at which the last run has failed. */
  failed: { node: string; message: string } | null;
  /** Turns to a flow, with what was last said to it. */
  open: (flow: string) => Promise<void>;
  /** Goes on with an earlier session. */
  choose: (session: string) => Promise<void>;
  /** Says something to the flow; null runs it with the values that it has. */
  start: (input: string | null, files?: readonly string[]) => Promise<void>;
  stop: () => Promise<void>;
  startNew: () => void;
  /** Takes back what says that the last run has failed, because that is no longer so. */
  forgetFailure: () => void;
  /** Takes back what the last run gave and where it failed: the flow that it was of is not on the canvas any more. */
  forget: () => void;
}

export const useRun = create<RunState>((set, get) => {
  const update = (change: (last: Said) => Said): void =>
    set(({ said }) => ({ said: said.map((one, at) => (at === said.length - 1 ? change(one) : one)) }));
  const note = (event: RunEvent, flow: string): void => {
    const isShown = useFlow.getState().id === flow;
    switch (event.event) {
      case "node_started":
        if (isShown) set(({ nodes }) => ({ nodes: new Map(nodes).set(event.node, "running") }));
        break;
      case "node_finished":
        if (isShown) set(({ nodes }) => ({ nodes: new Map(nodes).set(event.node, event.ok ? "done" : "failed") }));
        break;
      case "token":
        update((last) => ({ ...last, output: last.output + event.text }));
        break;
      case "complete": {
        const { output, error, metrics, nodes } = event.data;
        const told = error === null ? null : [error.message, error.fix].filter(Boolean).join(" ");
        update((last) => ({ ...last, output: output ?? "", error: told, seconds: metrics.seconds, tokens: metrics.total_tokens, cost: metrics.cost ?? null }));
        if (!isShown) break;
        const done = Object.keys(nodes).map((node): [string, NodeState] => [node, "done"]); // a short run ends before it is followed
        set((state) => ({ values: new Map(Object.entries(nodes)), nodes: new Map([...done, ...state.nodes]) }));
        const failed = error?.node;
        if (typeof failed === "string") set((state) => ({ nodes: new Map(state.nodes).set(failed, "failed"), failed: { node: failed, message: told ?? "" } }));
        break;
      }
      case "error":
        update((last) => ({ ...last, error: [event.message, event.fix].filter(Boolean).join(" ") }));
        break;
      case "cancelled":
        update((last) => ({ ...last, error: event.message }));
        break;
      default:
        break;
    }
  };
  /** Says why the last run has answered nothing, and marks the components that it lies at. */
  const explain = async (flow: string): Promise<void> => {
    const last = get().said.at(-1);
    if (last === undefined || last.output !== "" || last.error !== null) return;
    const { faults } = await request<Schemas["FlowNeeds"]>("GET", `/api/v1/flows/${encodeURIComponent(flow)}/needs`);
    const found = SILENT.map((code) => faults.filter((fault) => fault.code === code)).find((some) => some.length > 0);
    const { id, history } = useFlow.getState();
    if (found === undefined || id !== flow) return;
    useFlow.setState({ faults: found });
    update((said) => (said.id === last.id ? { ...said, why: named(history.present)(found.map(({ message, fix }) => [message, fix].filter(Boolean).join(" ")).join(" ")) } : said));
  };
  return {
    flow: null,
    session: crypto.randomUUID(),
    said: [],
    run: null,
    isRunning: false,
    isConnected: true,
    nodes: new Map(),
    values: new Map(),
    failed: null,
    open: async (flow) => {
      if (get().flow === flow) return;
      get().startNew();
      set({ flow });
      const session = kept.runSessionOf(flow);
      if (session === null) return;
      const { sessions } = await request<{ sessions: Schemas["SessionEntry"][] }>("GET", `${sessionsOf(flow)}?limit=200`);
      if (get().flow === flow && get().said.length === 0 && sessions.some((one) => one.session === session)) await get().choose(session);
    },
    choose: async (session) => {
      const { flow } = get();
      if (flow === null) return;
      const { messages } = await request<Schemas["SessionMessages"]>("GET", `${sessionsOf(flow)}/${encodeURIComponent(session)}`);
      kept.keepRunSession(flow, session);
      if (get().flow === flow) set({ session, said: saidIn(messages), nodes: new Map(), values: new Map(), failed: null });
    },
    start: async (input, files = []) => {
      const flow = useFlow.getState().id;
      if (flow === null || get().isRunning) return;
      const id = (get().said.at(-1)?.id ?? 0) + 1;
      set(({ said }) => ({
        said: [...said, { id, input: input ?? "", output: "", error: null, seconds: null, tokens: 0, cost: null, files }],
        isRunning: true,
        run: null,
        nodes: new Map(),
        values: new Map(),
        failed: null,
      }));
      try {
        await useFlow.getState().save();
        const reader = chatInputOf(useFlow.getState().history.present);
        const tweaks = files.length > 0 && reader !== undefined ? { [idOf(reader)]: { files: [...files] } } : {};
        kept.keepRunSession(flow, get().session);
        const run = await startRun(flow, input, get().session, tweaks);
        set({ run });
        for await (const event of followRun(run, (isConnected) => set({ isConnected }))) note(event, flow);
        await explain(flow);
      } catch (error) {
        if (!(error instanceof RequestFailed)) throw error;
        if (error instanceof RunRefused) useFlow.setState({ faults: error.faults });
        const { status, message, fix } = error.problem;
        update((last) => ({ ...last, error: status === 0 ? strings.cannotReach : [message, fix].filter(Boolean).join(" ") }));
      } finally {
        set(({ nodes }) => ({ isRunning: false, isConnected: true, run: null, nodes: new Map([...nodes].filter(([, state]) => state !== "running")) }));
      }
    },
    stop: async () => {
      const { run } = get();
      if (run !== null) await cancelRun(run);
    },
    forgetFailure: () => set(({ nodes }) => ({ failed: null, nodes: new Map([...nodes].filter(([, state]) => state !== "failed")) })),
    forget: () => set({ nodes: new Map(), values: new Map(), failed: null }),
    startNew: () => set({ session: crypto.randomUUID(), said: [], nodes: new Map(), values: new Map(), failed: null }),
  };
});

/** What a run gave stands on the components that gave it: not on those of another flow, and not on changed ones. */
useFlow.subscribe(({ id, history }, before) => {
  const { nodes, values, failed, isRunning, forget } = useRun.getState();
  if (nodes.size === 0 && values.size === 0 && failed === null) return;
  if (id !== before.id || (!isRunning && !runsAlike(history.present, before.history.present))) forget();
});

function sessionsOf(flow: string): string {
  return `/api/v1/flows/${encodeURIComponent(flow)}/sessions`;
}

/** What a session remembers, as it was said. */
export function saidIn(messages: readonly Schemas["Message"][]): Said[] {
  const said: Said[] = [];
  for (const { sender, text } of messages) {
    const last = said.at(-1);
    if (sender === "User") said.push({ id: said.length + 1, input: text, output: "", error: null, seconds: null, tokens: 0, cost: null, files: [] });
    else if (last === undefined) said.push({ id: 1, input: "", output: text, error: null, seconds: null, tokens: 0, cost: null, files: [] });
    else said[said.length - 1] = { ...last, output: [last.output, text].filter(Boolean).join("\n\n") };
  }
  return said;
}
