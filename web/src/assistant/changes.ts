/** The changes of the canvas that a message lists: each once, in the order in which they were made. */

import type { FlowUpdate } from "../flow/apply";
import { definitionOf, endOf, startOf, typeOf } from "../flow/document";
import { strings } from "../strings";

export interface Change {
  /** Tells changes apart: the same change told again is the same row. */
  key: string;
  text: string;
  node: string;
}

/** The row of a change; null for a whole flow and for what is only proposed. */
export function changeOf(update: FlowUpdate): Change | null {
  switch (update.action) {
    case "add_component": {
      const node = update.node.id ?? "";
      return { key: `add ${node}`, text: strings.changes.added(definitionOf(update.node).display_name ?? typeOf(update.node)), node };
    }
    case "remove_component":
      return { key: `remove ${update.component_id}`, text: strings.changes.removed(update.component_id), node: update.component_id };
    case "connect":
    case "disconnect": {
      const [start, end] = [startOf(update.edge), endOf(update.edge)];
      const key = `${update.action} ${start.node}.${start.port} ${end.node}.${end.port}`;
      const told = update.action === "connect" ? strings.changes.connected : strings.changes.disconnected;
      return { key, text: told(start.node, `${end.node}.${end.port}`), node: end.node };
    }
    case "configure": {
      const fields = Object.keys(update.params).join(", ");
      return { key: `set ${update.component_id} ${fields}`, text: strings.changes.set(update.component_id, fields), node: update.component_id };
    }
    case "set_flow":
    case "edit_field":
    case "propose_plan":
    case "arrange":
    case "set_detail":
      return null;
    default:
      return { key: `${update.action} ${update.component_id}`, text: strings.changes.changed(update.component_id), node: update.component_id };
  }
}

/** The rows with one more; one that is there already stays where it is. */
export function withChange(rows: Change[], change: Change): Change[] {
  return rows.some((row) => row.key === change.key) ? rows : [...rows, change];
}
