import { strings } from "../strings";
import type { Answer } from "./parts";

/** What became of something that waited. */
export function stateText(state: Answer): string {
  return { open: "", replaced: strings.replaced, approved: strings.approved, denied: strings.denied, withdrawn: strings.wasWithdrawn }[state];
}
