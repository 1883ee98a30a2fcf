/** What the flow on the canvas still needs before it can run, as the server says it. */

import { create } from "zustand";

import type { Schemas } from "../api/contract";
import { RequestFailed, request } from "../api/http";

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
      const { needs } = await request<{ needs: Need[] }>("GET", `/api/v1/flows/${encodeURIComponent(flow)}/needs`);
      if (get().flow === flow) set({ needs });
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      if (get().flow === flow) set({ needs: [] }); // the run itself says what is missing
    }
  },
}));
