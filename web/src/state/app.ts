/** Where the page is, and whether the server knows this browser. */

import { create } from "zustand";

import type { ConfigReply } from "../api/contract";
import { RequestFailed, onSignedOut, request } from "../api/http";
import { strings } from "../strings";
import { hashOf, placeOf } from "./place";
import type { Place } from "./place";

export { hashOf };
export type { View } from "./place";

interface AppState {
  place: Place;
  isSignedOut: boolean;
  config: ConfigReply | null;
  /** What the user should know, until it is dismissed. */
  notice: string | null;
  say: (text: string | null) => void;
  fail: (error: unknown) => void;
  load: () => Promise<void>;
  signIn: (token: string) => Promise<void>;
}

export function go(place: Place): void {
  location.hash = hashOf(place);
}

export const useApp = create<AppState>((set, get) => ({
  place: placeOf(location.hash),
  isSignedOut: false,
  config: null,
  notice: null,
  say: (notice) => set({ notice }),
  fail: (error) => {
    if (!(error instanceof RequestFailed)) throw error;
    const { status, message, fix } = error.problem;
    if (status !== 401) set({ notice: status === 0 ? strings.cannotReach : [message, fix].filter(Boolean).join(" ") });
  },
  load: async () => {
    try {
      const config = await request<ConfigReply>("GET", "/api/v1/agentic/check-config");
      set({ config, isSignedOut: false });
    } catch (error) {
      get().fail(error);
    }
  },
  signIn: async (token) => {
    await fetch("/sign-in", {
      method: "POST",
      redirect: "manual",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
    await get().load();
  },
}));

onSignedOut(() => useApp.setState({ isSignedOut: true }));
window.addEventListener("hashchange", () => useApp.setState({ place: placeOf(location.hash) }));
