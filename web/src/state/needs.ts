/** What keeps the flow on the canvas from running, as the server says it: what it lacks, and what is wrong with it. */

import { create } from "zustand";

import type { Schemas } from "../api/contract";
import { RequestFailed, request } from "../api/http";
import { useApp } from "./app";
import { useFlow } from "./flow";

export type Need = Schemas["FlowNeed"];

interface NeedsState {
  flow: string | null;
  needs: Need[];
  load: (flow: string) => Promise<void>;
}

export const useNeeds = create<NeedsState>((set, get) => ({
  flow: null,
  needs: [],
  load: async (flow) => {
    if (get().flow !== flow) set({ flow, needs: [] });
    try {
      const { needs, faults, version } = await request<Schemas["FlowNeeds"]>("GET", `/api/v1/flows/${encodeURIComponent(flow)}/needs`);
      if (get().flow !== flow) return;
      set({ needs });
      if (useFlow.getState().id === flow) useFlow.getState().checked(version, faults);
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      if (get().flow === flow) set({ needs: [] }); // the run itself says what is missing
    }
  },
}));

/** It is asked anew whenever the flow was opened, stored or changed by a turn: nothing that was found is kept. */
useFlow.subscribe(({ id, stored, version, isTurn, saving }, before) => {
  if (id === null || isTurn || saving !== "saved") return;
  const isSame = before.id === id && before.stored === stored && before.version === version && before.isTurn === isTurn && before.saving === saving;
  if (!isSame) useNeeds.getState().load(id).catch(useApp.getState().fail);
});
