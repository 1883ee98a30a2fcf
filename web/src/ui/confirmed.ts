import { strings } from "../strings";

/** Whether a file is to replace the one of its name; it is kept beside that one otherwise. */
export function confirmedReplacement(name: string, beside: string): boolean {
  return window.confirm(strings.replaceFile(name, beside));
}

/** Whether the user really wants to delete something that cannot be brought back. */
export function confirmedDeletion(name: string): boolean {
  return window.confirm(`${strings.delete}: ${name}?`);
}
