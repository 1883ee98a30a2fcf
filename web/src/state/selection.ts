/** The components that are selected on the canvas, and whether the message field leaves them out. */

import { create } from "zustand";

interface SelectionState {
  nodes: readonly string[];
  isLeftOut: boolean;
  select: (nodes: readonly string[]) => void;
  leaveOut: () => void;
}

export const useSelection = create<SelectionState>((set, get) => ({
  nodes: [],
  isLeftOut: false,
  select: (nodes) => {
    const before = get().nodes;
    if (nodes.length === before.length && nodes.every((node, at) => node === before[at])) return;
    set({ nodes, isLeftOut: false });
  },
  leaveOut: () => set({ isLeftOut: true }),
}));
