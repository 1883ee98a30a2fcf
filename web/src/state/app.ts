/** Where the page is, and whether the server knows this browser. */

import { create } from "zustand";

import type { ConfigReply } from "../api/contract";
import { RequestFailed, onSignedOut, request } from "../api/http";
import { strings } from "../strings";

/** The views beside the flows, by the word in their addresses. */
export const VIEWS = ["settings", "providers", "variables", "files", "usage", "evaluations", "users"] as const;

export type View = (typeof VIEWS)[number];

export type Place = { view: "flows" } | { view: View; name: string | null } | { view: "flow"; id: string; tab: string | null };

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

export function placeOf(hash: string): Place {
  const [, word, id, tab] = hash.split("/");
  const view = VIEWS.find((one) => one === word);
  const name = id === undefined || id === "" ? null : decodeURIComponent(id);
  if (view !== undefined) return { view, name };
  return word === "flow" && name !== null ? { view: "flow", id: name, tab: tab ?? null } : { view: "flows" };
}

export function hashOf(place: Place): string {
  if (place.view === "flows") return "#/flows";
  if (place.view === "flow") return `#/flow/${encodeURIComponent(place.id)}${place.tab === null ? "" : `/${place.tab}`}`;
  return place.name === null ? `#/${place.view}` : `#/${place.view}/${encodeURIComponent(place.name)}`;
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
