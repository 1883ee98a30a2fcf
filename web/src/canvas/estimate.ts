/** How large components are and where their ports are, said before they are drawn: a large flow draws only those in view. */

import { Position } from "@xyflow/react";
import type { NodeHandle } from "@xyflow/react";

import type { NodeDocument } from "../api/contract";
import { fieldsOf, isNote, isPort, outputsOf, shownFields, titleOf, typeOf } from "../flow/document";
import type { Field } from "../flow/document";
import { noteSize } from "../flow/edit";
import { kindOf } from "../flow/kinds";
import type { Kind } from "../flow/kinds";

/** From how many components on only those in view are drawn. */
export const MANY = 80;

export interface Estimate {
  /** Never a whole number of pixels high, so that drawing it always measures another size, and its ports with it. */
  measured: { width: number; height: number };
  handles: NodeHandle[];
}

/** Pixels, as `style.css` draws them: the width of a component, and the heights of its parts. */
const WIDTH = 280;
const HEADER = 37;
const TYPE = 18;
const PADDING = 8;
const LINE = 18;
const MORE = 26;
const NOTE_HEIGHT = 96;
const PORT = 16;

const CONTROLS: Partial<Record<Kind, number>> = { long: 50, prompt: 50, toggle: 26, slider: 26, list: 62, read: 20 };
const CONTROL = 32;

/** The size of a component and the places of its ports.
 * @param connected - the names of the fields at which connections end.
 */
export function estimated(document: NodeDocument, connected: ReadonlySet<string>): Estimate {
  if (isNote(document)) {
    const { width, height } = noteSize(document);
    return { measured: { width, height: (height ?? NOTE_HEIGHT) + 0.5 }, handles: [] };
  }
  const handles: NodeHandle[] = [];
  let height = HEADER + (titleOf(document) === typeOf(document) ? 0 : TYPE);
  const shown = shownFields(document, connected);
  for (const field of shown) {
    const row = PADDING + LINE + controlHeight(field, connected.has(field.name));
    if (isPort(field)) handles.push(handle(field.name, "target", height + row / 2));
    height += row;
  }
  if (fieldsOf(document).some((field) => field.show !== false && !shown.some((one) => one.name === field.name))) height += MORE;
  for (const output of outputsOf(document)) {
    handles.push(handle(output.name, "source", height + (PADDING + LINE) / 2));
    height += PADDING + LINE;
  }
  return { measured: { width: WIDTH, height: height + 0.5 }, handles };
}

function controlHeight(field: Field, isConnected: boolean): number {
  const kind = kindOf(field);
  return isConnected || kind === "port" ? 0 : (CONTROLS[kind] ?? CONTROL);
}

function handle(id: string, type: "source" | "target", middle: number): NodeHandle {
  const isTarget = type === "target";
  const at = { x: (isTarget ? 0 : WIDTH) - PORT / 2, y: middle - PORT / 2, width: PORT, height: PORT };
  return { id, type, position: isTarget ? Position.Left : Position.Right, ...at };
}
