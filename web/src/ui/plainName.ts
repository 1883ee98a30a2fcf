import { shortened } from "./shortened";

/** A name without marks that turn the direction of what follows, and no longer than a line or two. */
export function plainName(name: unknown, most = 200): string {
  const text = typeof name === "string" ? name.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "") : "";
  return shortened(text, most);
}
