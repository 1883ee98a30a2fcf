/** Where the page is, and whether the server knows this browser. */

import { create } from "zustand";

import type { ConfigReply } from "../api/contract";
import { RequestFailed, onSignedOut, request, send } from "../api/http";
import { strings } from "../strings";
import { forgetDrafts } from "./draft";
import { forget } from "./kept";
import { hashOf, placeOf } from "./place";
import type { Place } from "./place";

export { hashOf };
export type { View } from "./place";

interface AppState {
  place: Place;
  isSignedOut: boolean;
  config: ConfigReply | null;
  /** What the user should know for a while, or until it is dismissed. */
  notice: string | null;
  /** Whether the notice says that something failed. */
  isFailure: boolean;
  say: (text: string | null) => void;
  /** What failed, in words of the page. */
  warn: (text: string) => void;
  fail: (error: unknown) => void;
  load: () => Promise<void>;
  /** Looks at what may have changed elsewhere: the models that are set up, and whether this browser is signed in. */
  look: () => Promise<void>;
  /** Signs in, or says why not. */
  signIn: (token: string) => Promise<string | null>;
  signOut: () => Promise<void>;
}

export function go(place: Place): void {
  location.hash = hashOf(place);
}

export const useApp = create<AppState>((set, get) => ({
  place: placeOf(location.hash),
  isSignedOut: false,
  config: null,
  notice: null,
  isFailure: false,
  say: (notice) => set({ notice, isFailure: false }),
  warn: (notice) => set({ notice, isFailure: true }),
  fail: (error) => {
    if (!(error instanceof RequestFailed)) throw error;
    const { status, message, fix } = error.problem;
    if (status !== 401) set({ notice: status === 0 ? strings.cannotReach : [message, fix].filter(Boolean).join(" "), isFailure: true });
  },
  load: async () => {
    try {
      const config = await request<ConfigReply>("GET", "/api/v1/agentic/check-config");
      set({ config, isSignedOut: false });
    } catch (error) {
      get().fail(error);
    }
  },
  look: async () => {
    try {
      const config = await request<ConfigReply>("GET", "/api/v1/agentic/check-config");
      set({ isSignedOut: false, ...(JSON.stringify(config) === JSON.stringify(get().config) ? {} : { config }) });
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error; // whoever needs the server next is told
    }
  },
  signIn: async (token) => {
    const reply = await fetch("/sign-in", {
      method: "POST",
      redirect: "manual",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    }).catch(() => null);
    if (reply === null) return strings.cannotReach;
    if (reply.status >= 400) {
      const { error } = (await reply.json().catch(() => ({}))) as { error?: { message: string; fix: string } };
      return error === undefined ? strings.somethingWrong : [error.message, error.fix].join(" ");
    }
    await get().load();
    return null;
  },
  signOut: async () => {
    try {
      await send("DELETE", "/sign-in");
      forget();
      forgetDrafts();
      set({ isSignedOut: true, config: null });
    } catch (error) {
      get().fail(error);
    }
  },
}));

onSignedOut(() => useApp.setState({ isSignedOut: true }));
window.addEventListener("hashchange", () => useApp.setState({ place: placeOf(location.hash), notice: null }));
