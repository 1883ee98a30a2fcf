/** The flow on the canvas: its document with what can be undone, and how it is saved. */

import { create } from "zustand";

import type { Fault, FlowDocument, FlowEntry, NodeDocument, Schemas, WholeFlow } from "../api/contract";
import { RequestFailed, request, sendIfChanged } from "../api/http";
import type { Problem } from "../api/http";
import { isAlike, runsAlike } from "../flow/alike";
import { applyUpdate, changedNode } from "../flow/apply";
import type { FlowUpdate } from "../flow/apply";
import { withConfigured } from "../flow/configured";
import { EMPTY, idOf, nodesOf, shownFlow } from "../flow/document";
import { note, noteAll } from "../flow/faults";
import type { KnownFaults } from "../flow/faults";
import { amend, begin, redo, step, undo } from "../flow/history";
import type { History } from "../flow/history";
import { withOwnIds } from "../flow/ids";
import { merge } from "../flow/merge";
import type { Whose } from "../flow/merge";

/** How long hand-made changes are collected before they are saved. */
const SAVE_MILLISECONDS = 600;

export type Saving = "saved" | "unsaved" | "saving" | "conflict" | "failed";

/** A version that somebody else has stored, and what was decided of the components that both have changed. */
export interface Conflict {
  base: FlowDocument;
  theirs: FlowDocument;
  version: number;
  decided: ReadonlyMap<string, Whose>;
}

interface FlowState {
  id: string | null;
  version: number;
  /** The flow as the server has it in that version. */
  stored: FlowDocument;
  conflict: Conflict | null;
  /** How often changes of somebody else were brought together with those made here. */
  merges: number;
  /** How often changes of somebody else were shown, with none made here. */
  renewals: number;
  history: History<FlowDocument>;
  saving: Saving;
  problem: Problem | null;
  /** The nodes that the assistant has just changed. */
  changed: ReadonlySet<string>;
  /** What the assistant's last turn, or a run that was refused, says is wrong; none once the flow has changed. */
  faults: readonly Fault[];
  /** What is wrong with components by what they hold; another object whenever more is known. */
  known: { faults: KnownFaults };
  /** The node that a mention in the message points at. */
  pointedAt: string | null;
  isTurn: boolean;
  /** Whether the turn has made its step of the history: its first change does. */
  isTurnStep: boolean;
  /** The version that the canvas is compared with; null when it is not. */
  compared: { version: number; flow: FlowDocument } | null;
  compare: (version: number | null) => Promise<void>;
  /** Stores an earlier version as the next one, as a step that can be undone. */
  restore: (version: number) => Promise<void>;
  /** Asks the server what values change besides themselves, such as the ports of a template.
   * @param before - the component without the values; as it is now if it is left out.
   */
  configure: (node: string, values: Record<string, unknown>, options?: { toolMode?: boolean; before?: NodeDocument }) => Promise<void>;
  /** Takes what the server found wrong with a version, if that is the one on the canvas. */
  checked: (version: number, faults: readonly Fault[]) => void;
  point: (node: string | null) => void;
  /** Opens a flow; returns how many of its components shared an id with another one, and have one of their own now. */
  open: (id: string) => Promise<number>;
  close: () => void;
  change: (next: FlowDocument, options?: { amends?: boolean }) => void;
  undo: () => void;
  redo: () => void;
  /** Stores what was changed; resolves when that is done, or has failed. */
  save: () => Promise<void>;
  /** Looks whether somebody else has stored a newer version, and shows it; not while something is being changed here. */
  look: () => Promise<void>;
  /** Says whose change of some components is taken; the flow is saved once nothing is open. */
  decide: (nodes: readonly string[], whose: Whose) => void;
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

let timer: ReturnType<typeof setTimeout> | undefined;

/** The storing that goes on, or the last one. */
let storing: Promise<void> = Promise.resolve();

/** The flow as it is known to be stored, with what the turn has said that it changes. */
let turned = EMPTY;

export const useFlow = create<FlowState>((set, get) => {
  const put = async (version: number): Promise<void> => {
    const { id, history } = get();
    if (id === null) return;
    const sent = history.present;
    set({ saving: "saving" });
    try {
      const entry = await request<FlowEntry>("PUT", `/api/v1/flows/${encodeURIComponent(id)}`, { json: { version, flow: sent } });
      const isSame = get().history.present === sent;
      set({ version: entry.version, stored: sent, saving: isSame ? "saved" : "unsaved", problem: null });
      if (!isSame) later();
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      if (error.problem.code === "version_conflict") await meet(id).catch(failed);
      else failed(error);
    }
  };
  const failed = (error: unknown): void => {
    if (!(error instanceof RequestFailed)) throw error;
    set({ saving: "failed", problem: error.problem });
  };
  /** Brings what somebody else has stored together with what was changed here. */
  const meet = async (id: string): Promise<void> => {
    const { flow: theirs, version } = await request<WholeFlow>("GET", `/api/v1/flows/${encodeURIComponent(id)}`);
    if (get().id === id) take({ base: get().stored, theirs: shownFlow(theirs), version, decided: new Map() });
  };
  const take = (conflict: Conflict): void => {
    const { history } = get();
    const { base, theirs, version, decided } = conflict;
    const { flow, clashes } = merge(base, history.present, theirs, decided);
    if ([...clashes].some((node) => !decided.has(node))) {
      set({ conflict, saving: "conflict" });
      return;
    }
    if (isAlike(flow, theirs)) {
      if (isAlike(base, history.present) && !runsAlike(flow, history.present)) set({ renewals: get().renewals + 1 });
      set({ version, stored: theirs, conflict: null, saving: "saved", problem: null, ...(isAlike(flow, history.present) ? {} : { history: step(history, flow) }) });
      return;
    }
    const changed = new Set(nodesOf(flow).filter((node) => !nodesOf(history.present).includes(node)).map(idOf));
    const isMine = isAlike(flow, history.present);
    set({ history: isMine ? history : step(history, flow), version, stored: theirs, conflict: null, merges: get().merges + (isMine ? 0 : 1), saving: "unsaved", problem: null, changed, faults: [] });
    later();
  };
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void get().save(), SAVE_MILLISECONDS);
  };
  const moved = (history: History<FlowDocument>): void => {
    if (history === get().history) return;
    const { conflict } = get();
    set({ history, saving: conflict === null ? "unsaved" : "conflict", changed: new Set(), faults: [] });
    if (conflict === null) later();
    else take(conflict);
  };
  return {
    id: null,
    version: 0,
    stored: EMPTY,
    conflict: null,
    merges: 0,
    renewals: 0,
    history: begin(EMPTY),
    saving: "saved",
    problem: null,
    changed: new Set(),
    faults: [],
    pointedAt: null,
    isTurn: false,
    isTurnStep: false,
    compared: null,
    known: { faults: new WeakMap() },
    restore: async (earlier) => {
      await get().save();
      const { id, version } = get();
      if (id === null) return;
      const path = `/api/v1/flows/${encodeURIComponent(id)}`;
      await request("POST", `${path}/revisions/${earlier}/restore`, { json: { version } });
      const whole = await request<WholeFlow>("GET", path);
      const { history, saving, stored } = get();
      const restored = shownFlow(whole.flow);
      set({ compared: null, faults: [] });
      if (get().id !== id) return;
      if (saving === "saved") set({ history: step(history, restored), version: whole.version, stored: restored, changed: new Set() });
      else take({ base: stored, theirs: restored, version: whole.version, decided: new Map() });
    },
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
      const fields = Object.keys(values);
      const told = (code: string, severity: Fault["severity"], message: string, fix: string) => {
        const now = nodesOf(get().history.present).find((one) => idOf(one) === node);
        if (now === undefined) return;
        const faults = fields.map((field): Fault => ({ code, severity, node, field, port: null, line: null, message, fix }));
        note(get().known.faults, now, faults);
        set({ known: { ...get().known } });
      };
      try {
        const json = { node: sent, values, tool_mode: toolMode ?? null };
        const made = await request<Schemas["ConfiguredNode"]>("POST", "/api/v1/components/configure", { json });
        moved(amend(get().history, withConfigured(get().history.present, sent, made.node, values)));
        if (made.warnings[0] !== undefined) told("value", "warning", made.warnings[0], "");
      } catch (error) {
        if (!(error instanceof RequestFailed) || error.problem.status !== 422) throw error;
        told(error.problem.code, "error", error.problem.message, error.problem.fix);
      }
    },
    checked: (version, faults) => {
      const { history, known, saving } = get();
      if (version !== get().version || saving !== "saved") return;
      noteAll(known.faults, history.present, faults);
      set({ known: { ...known } });
    },
    point: (pointedAt) => set({ pointedAt }),
    open: async (id) => {
      await get().save();
      const whole = await request<WholeFlow>("GET", `/api/v1/flows/${encodeURIComponent(id)}`);
      const stored = shownFlow(whole.flow);
      const [flow, renewed] = withOwnIds(stored);
      set({ id, version: whole.version, stored, conflict: null, history: begin(flow), saving: renewed > 0 ? "unsaved" : "saved", problem: null, changed: new Set(), faults: [], isTurn: false, compared: null });
      if (renewed > 0) later();
      return renewed;
    },
    close: () => set({ id: null, version: 0, stored: EMPTY, conflict: null, history: begin(EMPTY), saving: "saved", changed: new Set(), compared: null }),
    change: (next, options) => moved((options?.amends === true ? amend : step)(get().history, next)),
    undo: () => moved(undo(get().history)),
    redo: () => moved(redo(get().history)),
    save: async () => {
      clearTimeout(timer);
      await storing;
      if (get().saving !== "unsaved" && get().saving !== "failed") {
        await storing; // another caller may have begun it meanwhile
        return;
      }
      const putting = put(get().version);
      storing = putting.catch(() => undefined); // who has begun it hears what is wrong
      await putting;
    },
    look: async () => {
      const { id, version, saving, isTurn, conflict, compared } = get();
      if (id === null || saving !== "saved" || isTurn || conflict !== null || compared !== null) return;
      const response = await sendIfChanged(`/api/v1/flows/${encodeURIComponent(id)}`, `"${version}"`);
      if (response === null) return;
      const found = (await response.json()) as WholeFlow;
      const now = get();
      const isSame = now.id === id && now.version === version && now.saving === "saved" && !now.isTurn && now.conflict === null && now.compared === null;
      if (isSame && found.version > version) take({ base: now.stored, theirs: shownFlow(found.flow), version: found.version, decided: new Map() });
    },
    decide: (nodes, whose) => {
      const { conflict } = get();
      if (conflict !== null) take({ ...conflict, decided: new Map([...conflict.decided, ...nodes.map((node): [string, Whose] => [node, whose])]) });
    },
    turnBegins: async () => {
      await get().save();
      turned = get().stored;
      set({ isTurn: true, isTurnStep: false, changed: new Set() });
    },
    turnChanges: (update) => {
      const { history, changed, isTurnStep } = get();
      const node = changedNode(update);
      const next = applyUpdate(history.present, update);
      turned = applyUpdate(turned, update);
      set({
        history: isTurnStep ? amend(history, next) : step(history, next),
        isTurnStep: isTurnStep || next !== history.present,
        changed: node === null ? changed : new Set([...changed, node]),
      });
    },
    turnEnds: (flow, version, faults = []) => {
      const { id, history, saving, isTurnStep, conflict, stored } = get();
      const byHand = saving !== "saved";
      const base = turned;
      const settled = flow === null || byHand ? history : settledBy(history, flow, isTurnStep);
      set({ isTurn: false, isTurnStep: false, faults, version: flow === null ? get().version : (version ?? get().version), stored: flow ?? stored, history: settled });
      if (conflict !== null) take(flow === null || version === null ? conflict : { ...conflict, theirs: flow, version });
      else if (flow === null && version !== null && version !== get().version && id !== null) void meet(id).catch(failed);
      else if (byHand && flow !== null && version !== null && !isAlike(base, flow)) take({ base, theirs: flow, version, decided: new Map() });
      else if (byHand) later();
    },
  };
});
