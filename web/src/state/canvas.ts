/** What the user does on the canvas and what is looked at, none of which belongs to the flow. */

import { create } from "zustand";

/** A field whose editor is open. */
export interface Edited {
  node: string;
  field: string;
}

export type Side = "canvas" | "panel";

interface CanvasState {
  /** The component whose title is being written. */
  renamed: string | null;
  edited: Edited | null;
  /** Whether the view goes to what the assistant changes; until the user moves it. */
  follows: boolean;
  /** What the view should go to next, and the keyboard with it. */
  wanted: { node: string } | null;
  /** Components that were just put on the canvas by hand: they become the selection. */
  chosen: ReadonlySet<string> | null;
  /** A value of the last run that is read whole. */
  value: { title: string; text: string } | null;
  /** What a small screen shows of a flow. */
  side: Side;
  show: (side: Side) => void;
  look: (value: { title: string; text: string } | null) => void;
  rename: (node: string | null) => void;
  edit: (edited: Edited | null) => void;
  follow: (follows: boolean) => void;
  goTo: (node: string) => void;
  choose: (nodes: ReadonlySet<string>) => void;
}

export const useCanvas = create<CanvasState>((set) => ({
  renamed: null,
  edited: null,
  follows: true,
  wanted: null,
  chosen: null,
  value: null,
  side: "canvas",
  show: (side) => set({ side }),
  look: (value) => set({ value }),
  rename: (renamed) => set({ renamed }),
  edit: (edited) => set({ edited }),
  follow: (follows) => set({ follows }),
  goTo: (node) => set({ wanted: { node }, side: "canvas" }),
  choose: (chosen) => set({ chosen }),
}));
