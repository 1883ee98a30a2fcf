/** Trying the flow: a chat with the flow itself, and what each node does while it runs. */

import { create } from "zustand";

import { RequestFailed } from "../api/http";
import { cancelRun, followRun, startRun } from "../api/runs";
import type { RunEvent } from "../api/runs";
import { strings } from "../strings";
import { useFlow } from "./flow";

export type NodeState = "running" | "done" | "failed";

export interface Said {
  id: number;
  input: string;
  output: string;
  error: string | null;
  seconds: number | null;
}

interface RunState {
  session: string;
  said: Said[];
  run: string | null;
  isRunning: boolean;
  nodes: ReadonlyMap<string, NodeState>;
  /** What each node gave in the last run. */
  values: ReadonlyMap<string, unknown>;
  /** The component at which the last run has failed. */
  failed: { node: string; message: string } | null;
  start: (input: string) => Promise<void>;
  stop: () => Promise<void>;
  startNew: () => void;
}

export const useRun = create<RunState>((set, get) => {
  const update = (change: (last: Said) => Said): void =>
    set(({ said }) => ({ said: said.map((one, at) => (at === said.length - 1 ? change(one) : one)) }));
  const note = (event: RunEvent): void => {
    switch (event.event) {
      case "node_started":
        set(({ nodes }) => ({ nodes: new Map(nodes).set(event.node, "running") }));
        break;
      case "node_finished":
        set(({ nodes }) => ({ nodes: new Map(nodes).set(event.node, event.ok ? "done" : "failed") }));
        break;
      case "token":
        update((last) => ({ ...last, output: last.output + event.text }));
        break;
      case "complete": {
        const { output, error, metrics, nodes } = event.data;
        const told = error === null ? null : [error.message, error.fix].filter(Boolean).join(" ");
        update((last) => ({ ...last, output: output ?? "", error: told, seconds: metrics.seconds }));
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
  return {
    session: crypto.randomUUID(),
    said: [],
    run: null,
    isRunning: false,
    nodes: new Map(),
    values: new Map(),
    failed: null,
    start: async (input) => {
      const flow = useFlow.getState().id;
      if (flow === null || get().isRunning) return;
      const id = (get().said.at(-1)?.id ?? 0) + 1;
      set(({ said }) => ({
        said: [...said, { id, input, output: "", error: null, seconds: null }],
        isRunning: true,
        run: null,
        nodes: new Map(),
        values: new Map(),
        failed: null,
      }));
      try {
        await useFlow.getState().save();
        const run = await startRun(flow, input, get().session);
        set({ run });
        for await (const event of followRun(run)) note(event);
      } catch (error) {
        if (!(error instanceof RequestFailed)) throw error;
        const { status, message, fix } = error.problem;
        update((last) => ({ ...last, error: status === 0 ? strings.cannotReach : [message, fix].filter(Boolean).join(" ") }));
      } finally {
        set(({ nodes }) => ({ isRunning: false, run: null, nodes: new Map([...nodes].filter(([, state]) => state !== "running")) }));
      }
    },
    stop: async () => {
      const { run } = get();
      if (run !== null) await cancelRun(run);
    },
    startNew: () => set({ session: crypto.randomUUID(), said: [], nodes: new Map(), values: new Map(), failed: null }),
  };
});
