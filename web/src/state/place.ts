/** The places of the page, and their addresses. */

/** The views beside the flows, by the word in their addresses. */
export const VIEWS = ["settings", "providers", "variables", "files", "usage", "jobs", "evaluations", "users"] as const;

export type View = (typeof VIEWS)[number];

export type Place = { view: "flows" } | { view: View; name: string | null } | { view: "flow"; id: string; tab: string | null };

export function placeOf(hash: string): Place {
  const [, word, id, tab] = hash.split("/");
  const view = VIEWS.find((one) => one === word);
  const name = id === undefined || id === "" ? null : decoded(id);
  if (view !== undefined) return { view, name };
  return word === "flow" && name !== null ? { view: "flow", id: name, tab: tab ?? null } : { view: "flows" };
}

export function hashOf(place: Place): string {
  if (place.view === "flows") return "#/flows";
  if (place.view === "flow") return `#/flow/${encodeURIComponent(place.id)}${place.tab === null ? "" : `/${place.tab}`}`;
  return place.name === null ? `#/${place.view}` : `#/${place.view}/${encodeURIComponent(place.name)}`;
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word; // a link that was cut off, or written by hand
  }
}
