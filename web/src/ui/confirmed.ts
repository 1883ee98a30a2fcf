import { strings } from "../strings";

/** Whether the user really wants to delete something that cannot be brought back. */
export function confirmedDeletion(name: string): boolean {
  return window.confirm(`${strings.delete}: ${name}?`);
}
