import { useReactFlow } from "@xyflow/react";
import type { Viewport } from "@xyflow/react";
import { useEffect, useRef } from "react";

import { idOf, nodesOf } from "../flow/document";
import { useCanvas } from "../state/canvas";
import { useFlow } from "../state/flow";
import { useRun } from "../state/run";
import type { AnyNode } from "./drawing";

/** The event that says that the flow was laid out anew. */
export const ARRANGED = "wirewright:arranged";

export const FIT = { padding: 0.1, minZoom: 0.4, maxZoom: 1 };

function duration(): number {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 300;
}

/** Where the view goes by itself: to what changes, to what is pointed at and back, and to what the user asks for.
 * @param ghosts - the components that wait to be added.
 */
export function useView(ghosts: string): void {
  const view = useReactFlow<AnyNode>();
  const changed = useFlow((state) => state.changed);
  const pointedAt = useFlow((state) => state.pointedAt);
  const follows = useCanvas((state) => state.follows);
  const wanted = useCanvas((state) => state.wanted);
  const failed = useRun((state) => state.failed);
  const back = useRef<Viewport | null>(null);

  useEffect(() => {
    const fit = () => void view.fitView({ ...FIT, duration: duration() });
    window.addEventListener(ARRANGED, fit);
    return () => window.removeEventListener(ARRANGED, fit);
  }, [view]);
  useEffect(() => {
    const ids = [...changed, ...(ghosts === "" ? [] : ghosts.split("\n"))];
    if (ids.length === 0 || !follows) return;
    const frame = requestAnimationFrame(() => void view.fitView({ ...FIT, nodes: ids.map((id) => ({ id })), duration: duration() }));
    return () => cancelAnimationFrame(frame);
  }, [changed, ghosts, follows, view]);
  useEffect(() => {
    const node = pointedAt === null ? undefined : view.getInternalNode(pointedAt);
    if (node === undefined) {
      if (back.current !== null && pointedAt === null) void view.setViewport(back.current, { duration: duration() });
      back.current = null;
    } else if (!isInView(view.getViewport(), node)) {
      back.current ??= view.getViewport();
      void centre(view, node);
    }
  }, [pointedAt, view]);
  useEffect(() => {
    if (wanted === null) return;
    const go = () => {
      const node = view.getInternalNode(wanted.node);
      if (node === undefined) return false; // a component that was just added is drawn first
      back.current = null; // the user went there, and stays
      void centre(view, node);
      return true;
    };
    return inFrames([go, () => focusNode(wanted.node)]); // one that was out of view is drawn when the view is there
  }, [wanted, view]);
  useEffect(() => {
    if (failed !== null && nodesOf(useFlow.getState().history.present).some((node) => idOf(node) === failed.node)) useCanvas.getState().goTo(failed.node);
  }, [failed]);
}

/** Takes steps in order, each in a frame in which it can be taken; returns what gives the rest up. */
function inFrames(steps: readonly (() => boolean)[]): () => void {
  let [at, frame] = [0, 0];
  const look = () => {
    if (steps[at]?.() === true) at += 1;
    if (at < steps.length) frame = requestAnimationFrame(look);
  };
  frame = requestAnimationFrame(look);
  return () => cancelAnimationFrame(frame);
}

type Placed = NonNullable<ReturnType<ReturnType<typeof useReactFlow<AnyNode>>["getInternalNode"]>>;

function centre(view: ReturnType<typeof useReactFlow<AnyNode>>, node: Placed): Promise<boolean> {
  const { x, y } = node.internals.positionAbsolute;
  const { width = 280, height = 200 } = node.measured;
  return view.setCenter(x + width / 2, y + height / 2, { zoom: Math.min(1, Math.max(0.7, view.getZoom())), duration: duration() });
}

/** Whether the middle of a node is on the screen. */
function isInView({ x, y, zoom }: Viewport, node: Placed): boolean {
  const pane = document.querySelector(".canvas .react-flow");
  if (pane === null) return true;
  const { width = 280, height = 200 } = node.measured;
  const at = node.internals.positionAbsolute;
  const [left, top] = [(at.x + width / 2) * zoom + x, (at.y + height / 2) * zoom + y];
  return left > 0 && top > 0 && left < pane.clientWidth && top < pane.clientHeight;
}

/** Gives the keyboard to a component, or to what is written in it; false while it is not drawn. */
export function focusNode(id: string): boolean {
  const node = document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
  const written = useCanvas.getState().renamed === id ? node?.querySelector<HTMLElement>("textarea, input.rename") : null;
  (written ?? node)?.focus({ preventScroll: true });
  return node !== null;
}
