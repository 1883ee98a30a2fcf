import { useReactFlow } from "@xyflow/react";
import { useState } from "react";
import type { DragEvent } from "react";

import type { FlowDocument, WholeComponent } from "../api/contract";
import { uploadFiles } from "../api/files";
import { request } from "../api/http";
import { flowsIn } from "../flow/clipboard";
import { fieldsOf, idOf, labelOf, nodesOf, takesFile } from "../flow/document";
import type { Field } from "../flow/document";
import { add, setField } from "../flow/edit";
import type { Point } from "../flow/edit";
import { useApp } from "../state/app";
import { useCanvas } from "../state/canvas";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { put } from "./useKeys";

/** The component that reads a file. */
const READER = "File";

/** Files that are dropped on the canvas: a flow's components are put there, another file fills the field under it, or is read by a new component. */
export function useDrop() {
  const view = useReactFlow();
  const [isOver, setOver] = useState(false);
  const onDragOver = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    setOver(true);
  };
  const onDragLeave = (event: DragEvent) => {
    if (!(event.relatedTarget instanceof Node) || !event.currentTarget.contains(event.relatedTarget)) setOver(false);
  };
  const onDrop = (event: DragEvent) => {
    setOver(false);
    const files = [...event.dataTransfer.files];
    if (files.length === 0) return;
    event.preventDefault();
    const field = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-file-field]") : null;
    const at = view.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    take(files, field, at).catch((error: unknown) => useApp.getState().fail(error));
  };
  return { isOver, handlers: { onDragOver, onDragLeave, onDrop } };
}

async function take(files: File[], field: HTMLElement | null, at: Point): Promise<void> {
  const [flows, rest] = [new Array<FlowDocument>(), new Array<File>()];
  for (const file of files) {
    const found = field === null && file.name.toLowerCase().endsWith(".json") ? flowsIn(await file.text()) : [];
    if (found.length === 0) rest.push(file);
    flows.push(...found);
  }
  const shared = flows.length === 0 ? 0 : put(flows, at);
  if (shared > 0) useApp.getState().say(strings.newIds(shared));
  if (rest.length === 0) return;
  const node = field?.closest(".react-flow__node")?.getAttribute("data-id");
  const filled = node == null ? undefined : fieldOf(node, field?.dataset["fileField"] ?? "");
  const unread = filled === undefined ? undefined : rest.find(({ name }) => !takesFile(filled, name));
  if (filled !== undefined && unread !== undefined) {
    useApp.getState().warn(strings.notRead(unread.name, labelOf(filled), (filled.fileTypes ?? []).join(", ")));
    return;
  }
  const paths = await uploadFiles(rest);
  if (node != null && field?.dataset["fileField"] !== undefined) await fill(node, field.dataset["fileField"], paths);
  else {
    const component = await request<WholeComponent>("GET", `/api/v1/components/${READER}`);
    const { history, change } = useFlow.getState();
    const [next, id] = add(history.present, component, at);
    change(next);
    await fill(id, "path", paths);
    useCanvas.getState().choose(new Set([id]));
  }
  useApp.getState().say(strings.uploaded(paths.join(", ")));
}

function fieldOf(node: string, name: string): Field | undefined {
  const document = nodesOf(useFlow.getState().history.present).find((one) => idOf(one) === node);
  return document === undefined ? undefined : fieldsOf(document).find((one) => one.name === name);
}

async function fill(node: string, name: string, paths: string[]): Promise<void> {
  const { history, change, configure } = useFlow.getState();
  const document = nodesOf(history.present).find((one) => idOf(one) === node);
  const field = fieldOf(node, name);
  const isList = field?.list === true || field?.is_list === true;
  const value = isList ? paths : (paths[0] ?? "");
  change(setField(history.present, node, name, value));
  await configure(node, { [name]: value }, document === undefined ? {} : { before: document });
}
