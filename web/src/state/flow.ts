/** The flow on the canvas: its document with what can be undone, and how it is saved. */

import { create } from "zustand";

import type { Fault, FlowDocument, FlowEntry, NodeDocument, Schemas, WholeFlow } from "../api/contract";
import { RequestFailed, request } from "../api/http";
import type { Problem } from "../api/http";
import { isAlike } from "../flow/alike";
import { applyUpdate, changedNode } from "../flow/apply";
import type { FlowUpdate } from "../flow/apply";
import { withConfigured } from "../flow/configured";
import { EMPTY, idOf, nodesOf, shownFlow } from "../flow/document";
import { amend, begin, redo, step, undo } from "../flow/history";
import type { History } from "../flow/history";

/** How long hand-made changes are collected before they are saved. */
const SAVE_MILLISECONDS = 600;

export type Saving = "saved" | "unsaved" | "saving" | "conflict" | "failed";

interface FlowState {
  id: string | null;
  version: number;
  history: History<FlowDocument>;
  saving: Saving;
  problem: Problem | null;
  /** The nodes that the assistant has just changed. */
  changed: ReadonlySet<string>;
  /** What is wrong, as the assistant's last turn found it; none once the flow has changed. */
  faults: readonly Fault[];
  /** The node that a mention in the message points at. */
  pointedAt: string | null;
  isTurn: boolean;
  /** Whether the turn has made its step of the history: its first change does. */
  isTurnStep: boolean;
  /** The version that the canvas is compared with; null when it is not. */
  compared: { version: number; flow: FlowDocument } | null;
  /** Why the server refused a value, by component and field. */
  refused: ReadonlyMap<string, string>;
  compare: (version: number | null) => Promise<void>;
  /** Asks the server what values change besides themselves, such as the ports of a template.
   * @param before - the component without the values; as it is now if it is left out.
   */
  configure: (node: string, values: Record<string, unknown>, options?: { toolMode?: boolean; before?: NodeDocument }) => Promise<void>;
  point: (node: string | null) => void;
  open: (id: string) => Promise<void>;
  close: () => void;
  change: (next: FlowDocument, options?: { amends?: boolean }) => void;
  undo: () => void;
  redo: () => void;
  save: () => Promise<void>;
  settle: (whose: "mine" | "theirs") => Promise<void>;
  turnBegins: () => Promise<void>;
  turnChanges: (update: FlowUpdate) => void;
  turnEnds: (flow: FlowDocument | null, version: number | null, faults?: readonly Fault[]) => void;
}

/** The history after a turn that ended with this flow: a turn that changed nothing leaves no step behind. */
function settledBy(history: History<FlowDocument>, flow: FlowDocument, isStep: boolean): History<FlowDocument> {
  const before = isStep ? history.past.at(-1) : history.present;
  const isUnchanged = before !== undefined && isAlike(before, flow);
  if (isStep) return isUnchanged ? { ...undo(history), future: [] } : amend(history, flow);
  return isUnchanged ? { ...history, present: flow } : step(history, flow);
}

type WholeRevision = Schemas["OneRevisionReply"];

/** The key of a field in `refused`. */
export function fieldKey(node: string, field: string): string {
  return `${node}\n${field}`;
}

let timer: ReturnType<typeof setTimeout> | undefined;

export const useFlow = create<FlowState>((set, get) => {
  const put = async (version: number): Promise<void> => {
    const { id, history } = get();
    if (id === null) return;
    const sent = history.present;
    set({ saving: "saving" });
    try {
      const entry = await request<FlowEntry>("PUT", `/api/v1/flows/${encodeURIComponent(id)}`, { json: { version, flow: sent } });
      const isSame = get().history.present === sent;
      set({ version: entry.version, saving: isSame ? "saved" : "unsaved", problem: null });
      if (!isSame) later();
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      set({ saving: error.problem.status === 409 ? "conflict" : "failed", problem: error.problem });
    }
  };
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void get().save(), SAVE_MILLISECONDS);
  };
  const moved = (history: History<FlowDocument>): void => {
    if (history === get().history) return;
    set({ history, saving: "unsaved", changed: new Set(), faults: [] });
    later();
  };
  return {
    id: null,
    version: 0,
    history: begin(EMPTY),
    saving: "saved",
    problem: null,
    changed: new Set(),
    faults: [],
    pointedAt: null,
    isTurn: false,
    isTurnStep: false,
    compared: null,
    refused: new Map(),
    compare: async (version) => {
      const { id } = get();
      if (version === null || id === null) {
        set({ compared: null });
        return;
      }
      const { flow } = await request<WholeRevision>("GET", `/api/v1/flows/${encodeURIComponent(id)}/revisions/${version}`);
      if (get().id === id) set({ compared: { version, flow } });
    },
    configure: async (node, values, { toolMode, before } = {}) => {
      const sent = before ?? nodesOf(get().history.present).find((one) => idOf(one) === node);
      if (sent === undefined) return;
      const keys = Object.keys(values).map((field) => fieldKey(node, field));
      const told = new Map([...get().refused].filter(([key]) => !keys.includes(key)));
      try {
        const json = { node: sent, values, tool_mode: toolMode ?? null };
        const made = await request<Schemas["ConfiguredNode"]>("POST", "/api/v1/components/configure", { json });
        moved(amend(get().history, withConfigured(get().history.present, sent, made.node, values)));
        for (const key of keys) if (made.warnings[0] !== undefined) told.set(key, made.warnings[0]);
      } catch (error) {
        if (!(error instanceof RequestFailed) || error.problem.status !== 422) throw error;
        for (const key of keys) told.set(key, [error.problem.message, error.problem.fix].filter(Boolean).join(" "));
      }
      set({ refused: told });
    },
    point: (pointedAt) => set({ pointedAt }),
    open: async (id) => {
      await get().save();
      const whole = await request<WholeFlow>("GET", `/api/v1/flows/${encodeURIComponent(id)}`);
      const flow = shownFlow(whole.flow);
      set({ id, version: whole.version, history: begin(flow), saving: "saved", problem: null, changed: new Set(), faults: [], isTurn: false, compared: null, refused: new Map() });
    },
    close: () => set({ id: null, version: 0, history: begin(EMPTY), saving: "saved", changed: new Set(), compared: null }),
    change: (next, options) => moved((options?.amends === true ? amend : step)(get().history, next)),
    undo: () => moved(undo(get().history)),
    redo: () => moved(redo(get().history)),
    save: async () => {
      clearTimeout(timer);
      if (get().saving === "unsaved" || get().saving === "failed") await put(get().version);
    },
    settle: async (whose) => {
      const { id } = get();
      if (id === null) return;
      const theirs = await request<WholeFlow>("GET", `/api/v1/flows/${encodeURIComponent(id)}`);
      if (whose === "mine") await put(theirs.version);
      else {
        const history = step(get().history, shownFlow(theirs.flow));
        set({ version: theirs.version, history, saving: "saved", problem: null });
      }
    },
    turnBegins: async () => {
      await get().save();
      set({ isTurn: true, isTurnStep: false, changed: new Set() });
    },
    turnChanges: (update) => {
      const { history, changed, isTurnStep } = get();
      const node = changedNode(update);
      const next = applyUpdate(history.present, update);
      set({
        history: isTurnStep ? amend(history, next) : step(history, next),
        isTurnStep: isTurnStep || next !== history.present,
        changed: node === null ? changed : new Set([...changed, node]),
      });
    },
    turnEnds: (flow, version, faults = []) => {
      const { history, saving, isTurnStep } = get();
      const byHand = saving === "unsaved" || saving === "saving";
      const settled = flow === null || byHand ? history : settledBy(history, flow, isTurnStep);
      set({ isTurn: false, isTurnStep: false, faults, version: version ?? get().version, history: settled });
      if (byHand) later();
    },
  };
});
