/** Mentions of the canvas in a message: `@` lists components, and `.` behind one lists its fields.
 *
 * A component becomes `'<id>'`, a field `'<id>.<name>'` with a space behind it: tokens that the assistant's tools read.
 */

import type { FlowDocument } from "../api/contract";
import { fieldsOf, idOf, isNote, labelOf, nodesOf, titleOf } from "../flow/document";
import { folded } from "../ui/shortened";

export type Mention =
  | { kind: "component"; start: number; query: string }
  | { kind: "field"; start: number; node: string; query: string };

export interface Choice {
  /** What is inserted in place of the mention. */
  token: string;
  label: string;
  node: string;
}

const COMPONENT = /(?:^|\s)@([^\s@']*)$/;
const FIELD = /'([^'\s.]+)'\.([^\s'.]*)$/;

/** The mention that is being written before the cursor; null when there is none. */
export function mentionAt(text: string, cursor: number): Mention | null {
  const before = text.slice(0, cursor);
  const field = FIELD.exec(before);
  if (field?.[1] !== undefined) return { kind: "field", start: field.index, node: field[1], query: field[2] ?? "" };
  const component = COMPONENT.exec(before);
  if (component === null) return null;
  return { kind: "component", start: cursor - (component[1]?.length ?? 0) - 1, query: component[1] ?? "" };
}

/** What a mention may become: those whose name begins with what was typed stand before those that contain it. */
export function choicesFor(flow: FlowDocument, mention: Mention): Choice[] {
  if (mention.kind === "component") {
    const nodes = nodesOf(flow).filter((node) => !isNote(node));
    return ranked(
      nodes.map((node) => ({ token: `'${idOf(node)}'`, label: titleOf(node), node: idOf(node) })),
      mention.query,
    );
  }
  const node = nodesOf(flow).find((one) => idOf(one) === mention.node);
  if (node === undefined) return [];
  const fields = fieldsOf(node).filter(
    (field) => field.display_name !== undefined && field.show !== false && !field.name.startsWith("_"),
  );
  return ranked(
    fields.map((field) => ({ token: `'${mention.node}.${field.name}' `, label: labelOf(field), node: mention.node })),
    mention.query,
  );
}

/** The text with a choice in place of a mention, and where the cursor stands then. */
export function withChoice(text: string, cursor: number, mention: Mention, choice: Choice): [string, number] {
  const before = text.slice(0, mention.start) + choice.token;
  return [before + text.slice(cursor), before.length];
}

/** The text with what is selected as mentions in a line of their own; what it mentions already is not repeated. */
export function withMentions(text: string, nodes: readonly string[]): string {
  const tokens = nodes.map((node) => `'${node}'`).filter((token) => !text.includes(token));
  return tokens.length === 0 ? text : `${text}\n\n${tokens.join(", ")}`;
}

function ranked(choices: Choice[], query: string): Choice[] {
  const wanted = folded(query);
  const place = (choice: Choice) => {
    const [label, token] = [folded(choice.label), folded(choice.token)];
    if (label.startsWith(wanted)) return 0;
    return label.includes(wanted) || token.includes(wanted) ? 1 : 2;
  };
  return choices.filter((choice) => place(choice) < 2).sort((one, other) => place(one) - place(other));
}
