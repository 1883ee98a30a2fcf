import type { Refusal } from "../flow/connect";
import { strings } from "../strings";

/** Why a connection is refused, in words. */
export function told(refusal: Refusal): string {
  switch (refusal.why) {
    case "self":
      return strings.connectionSelf;
    case "unknown":
      return strings.connectionUnknown;
    case "exists":
      return strings.connectionExists;
    case "taken":
      return strings.connectionTaken(refusal.to);
    case "types":
      return strings.connectionTypes(refusal.from, refusal.gives.join(", "), refusal.to, refusal.takes.join(", "));
  }
}
