import { useReactFlow } from "@xyflow/react";
import { useEffect, useRef } from "react";
import type { KeyboardEvent, PointerEvent } from "react";

import type { FlowDocument } from "../api/contract";
import { copied, flowsIn, pasted } from "../flow/clipboard";
import { idOf, isNote, nodesOf } from "../flow/document";
import { duplicate, remove } from "../flow/edit";
import type { Point } from "../flow/edit";
import { knownOf } from "../flow/faults";
import { withOwnIds } from "../flow/ids";
import { useApp } from "../state/app";
import { useCanvas } from "../state/canvas";
import { useFlow } from "../state/flow";
import { useRun } from "../state/run";
import { strings } from "../strings";

const EDITABLE = "input, textarea, select, [contenteditable], dialog";

/** The keyboard and the clipboard of the canvas; returns what its root listens to.
 * @param chosen - the ids of the selected components.
 * @param select - makes these the selection.
 */
export function useKeys(chosen: ReadonlySet<string>, select: (ids: ReadonlySet<string>) => void) {
  const view = useReactFlow();
  const pointer = useRef<Point | null>(null);
  const state = useRef({ chosen, select });
  useEffect(() => {
    state.current = { chosen, select };
  }, [chosen, select]);

  useEffect(() => {
    const onCopy = (event: ClipboardEvent) => {
      const ids = state.current.chosen;
      if (!isOurs(event) || ids.size === 0 || window.getSelection()?.isCollapsed === false) return;
      const { history, change } = useFlow.getState();
      event.clipboardData?.setData("text/plain", copied(history.present, ids));
      event.preventDefault();
      if (event.type === "cut") change(remove(history.present, ids, new Set()));
    };
    const onPaste = (event: ClipboardEvent) => {
      if (!isOurs(event)) return;
      const found = flowsIn(event.clipboardData?.getData("text/plain") ?? "");
      if (found.length === 0) return;
      event.preventDefault();
      const pane = document.querySelector(".canvas .react-flow")?.getBoundingClientRect() ?? new DOMRect();
      const place = pointer.current ?? { x: pane.left + pane.width / 3, y: pane.top + pane.height / 3 };
      put(found, view.screenToFlowPosition(place));
      const doubled = found.reduce((sum, one) => sum + withOwnIds(one)[1], 0);
      if (doubled > 0) useApp.getState().say(strings.newIds(doubled));
      if (pointer.current !== null) pointer.current = { x: place.x + 24, y: place.y + 24 }; // so that a second paste covers nothing
    };
    document.addEventListener("copy", onCopy);
    document.addEventListener("cut", onCopy);
    document.addEventListener("paste", onPaste);
    return () => {
      document.removeEventListener("copy", onCopy);
      document.removeEventListener("cut", onCopy);
      document.removeEventListener("paste", onPaste);
    };
  }, [view]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLElement && event.target.closest(EDITABLE) !== null) return;
    const { history, change, undo, redo, faults, known } = useFlow.getState();
    const flow = history.present;
    const key = event.key.toLowerCase();
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && key === "z") (event.shiftKey ? redo : undo)();
    else if (isCommand && key === "y") redo();
    else if (isCommand && key === "a") select(new Set(nodesOf(flow).map(idOf)));
    else if (isCommand && key === "d" && chosen.size > 0) {
      const [next, ids] = duplicate(flow, chosen);
      change(next);
      useCanvas.getState().choose(ids);
    } else if (event.key === "F2") rename(chosen);
    else if (event.key === "F8") {
      const standing = nodesOf(flow).filter((node) => knownOf(known.faults, node) !== undefined);
      next([...faults.map(({ node }) => node ?? ""), ...standing.map(idOf), useRun.getState().failed?.node ?? ""], chosen);
    }
    else if (event.key === "Enter" && chosen.size === 1 && !(event.target instanceof HTMLElement && event.target.closest("button, a, summary"))) {
      const [only = ""] = chosen;
      if (!nodesOf(flow).some((node) => idOf(node) === only && isNote(node))) return;
      rename(chosen);
    } else return;
    event.preventDefault();
  };
  const onPointerMove = (event: PointerEvent) => {
    pointer.current = { x: event.clientX, y: event.clientY };
  };
  const onPointerLeave = () => {
    pointer.current = null;
  };
  return { onKeyDown, onPointerMove, onPointerLeave };
}

/** Puts the components of other flows on the canvas, in one step; they become the selection.
 * @returns how many of them had an id that another one has too.
 */
export function put(found: readonly FlowDocument[], at: Point): number {
  const { history, change } = useFlow.getState();
  const { flow, ids, shared } = pasted(history.present, found, at);
  change(flow);
  useCanvas.getState().choose(ids);
  return shared;
}

function rename(chosen: ReadonlySet<string>): void {
  const [only] = chosen;
  if (only !== undefined && chosen.size === 1) useCanvas.getState().rename(only);
}

/** Goes to the next of the components with a fault. */
function next(places: readonly string[], chosen: ReadonlySet<string>): void {
  const nodes = [...new Set(places)].filter((id) => id !== "");
  const focused = document.activeElement?.closest(".react-flow__node")?.getAttribute("data-id") ?? [...chosen][0] ?? "";
  const wanted = nodes[(nodes.indexOf(focused) + 1) % Math.max(1, nodes.length)];
  if (wanted !== undefined) useCanvas.getState().goTo(wanted);
}

/** Whether an event of the clipboard is about the canvas: nothing else that takes text has the keyboard. */
function isOurs(event: ClipboardEvent): boolean {
  const at = document.activeElement;
  const isInCanvas = at === null || at === document.body || at.closest(".canvas") !== null;
  const isTyped = event.target instanceof HTMLElement && event.target.closest(EDITABLE) !== null;
  return isInCanvas && !isTyped && document.querySelector("dialog[open]") === null;
}
