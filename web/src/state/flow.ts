/** The flow on the canvas: its document with what can be undone, and how it is saved. */

import { create } from "zustand";

import type { Fault, FlowDocument, FlowEntry, WholeFlow } from "../api/contract";
import { RequestFailed, request } from "../api/http";
import type { Problem } from "../api/http";
import { applyUpdate, changedNode } from "../flow/apply";
import type { FlowUpdate } from "../flow/apply";
import { EMPTY } from "../flow/document";
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
    point: (pointedAt) => set({ pointedAt }),
    open: async (id) => {
      await get().save();
      const whole = await request<WholeFlow>("GET", `/api/v1/flows/${encodeURIComponent(id)}`);
      const flow = whole.flow;
      set({ id, version: whole.version, history: begin(flow), saving: "saved", problem: null, changed: new Set(), faults: [], isTurn: false });
    },
    close: () => set({ id: null, version: 0, history: begin(EMPTY), saving: "saved", changed: new Set() }),
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
        const history = step(get().history, theirs.flow);
        set({ version: theirs.version, history, saving: "saved", problem: null });
      }
    },
    turnBegins: async () => {
      await get().save();
      const { history } = get();
      set({ isTurn: true, changed: new Set(), history: step(history, { ...history.present }) });
    },
    turnChanges: (update) => {
      const { history, changed } = get();
      const node = changedNode(update);
      set({
        history: amend(history, applyUpdate(history.present, update)),
        changed: node === null ? changed : new Set([...changed, node]),
      });
    },
    turnEnds: (flow, version, faults = []) => {
      const { history, saving } = get();
      const byHand = saving === "unsaved" || saving === "saving";
      const isSame = history.past.length > 0 && JSON.stringify(history.past.at(-1)) === JSON.stringify(flow ?? history.present);
      const settled = flow === null || byHand ? history : amend(history, flow);
      const unchanged = isSame && !byHand ? { ...undo(settled), future: [] } : settled;
      set({ isTurn: false, faults, version: version ?? get().version, history: unchanged });
      if (byHand) later();
    },
  };
});
