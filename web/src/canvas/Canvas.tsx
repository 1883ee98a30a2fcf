import { Background, Controls, MiniMap, ReactFlow, ReactFlowProvider, applyNodeChanges, useReactFlow } from "@xyflow/react";
import type { Connection, Edge, EdgeChange, FinalConnectionState, NodeChange } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import type { FlowDocument } from "../api/contract";
import { refusal } from "../flow/connect";
import { edgeId, edgesOf, endOf, idOf, isNote, nodesOf, outputsOf, startOf } from "../flow/document";
import type { End } from "../flow/document";
import { connect, move, remove } from "../flow/edit";
import type { Point } from "../flow/edit";
import { useFlow } from "../state/flow";
import { useSelection } from "../state/selection";
import { strings } from "../strings";
import { FlowNode } from "./FlowNode";
import type { CanvasNode } from "./FlowNode";
import { NoteNode } from "./NoteNode";
import type { CanvasNote } from "./NoteNode";
import { colourOf } from "./colours";
import { told } from "./refusals";
import { SelectionBar } from "./SelectionBar";

type AnyNode = CanvasNode | CanvasNote;

const TYPES = { component: FlowNode, note: NoteNode };
/** The event that says that the flow was laid out anew. */
export const ARRANGED = "wirewright:arranged";

const FIT = { padding: 0.1, minZoom: 0.4, maxZoom: 1 };

/** The canvas with what surrounds it. */
export function Canvas() {
  return (
    <ReactFlowProvider>
      <Graph />
    </ReactFlowProvider>
  );
}

function Graph() {
  const flow = useFlow((state) => state.history.present);
  const changed = useFlow((state) => state.changed);
  const { change, undo, redo } = useFlow.getState();
  const [nodes, setNodes] = useState<AnyNode[]>([]);
  const [edgesSelected, setEdgesSelected] = useState<ReadonlySet<string>>(new Set());
  const [reason, setReason] = useState("");
  const view = useReactFlow();
  const followed = useRef(true);

  const [shown, setShown] = useState<{ flow: FlowDocument; changed: ReadonlySet<string> } | null>(null);
  if (shown?.flow !== flow || shown.changed !== changed) {
    setShown({ flow, changed });
    setNodes(drawn(flow, changed, nodes));
  }
  useEffect(() => {
    const fit = () => void view.fitView({ ...FIT, duration: 300 });
    window.addEventListener(ARRANGED, fit);
    return () => window.removeEventListener(ARRANGED, fit);
  }, [view]);
  useEffect(() => {
    if (changed.size === 0 || !followed.current) return;
    void view.fitView({ ...FIT, nodes: [...changed].map((id) => ({ id })), duration: 300 });
  }, [changed, view]);

  const edges = useMemo(() => drawnEdges(flow, edgesSelected), [flow, edgesSelected]);
  const current = useCallback((): FlowDocument => useFlow.getState().history.present, []);

  const onNodes = useCallback(
    (changes: NodeChange<AnyNode>[]) => {
      setNodes((before) => applyNodeChanges(changes, before));
      const places = new Map<string, Point>();
      for (const one of changes) {
        if (one.type === "position" && one.dragging === false && one.position !== undefined) places.set(one.id, one.position);
      }
      if (places.size > 0) change(move(current(), places));
      const gone = new Set(changes.flatMap((one) => (one.type === "remove" ? [one.id] : [])));
      if (gone.size > 0) change(remove(current(), gone, new Set()));
    },
    [change, current],
  );
  const onEdges = useCallback(
    (changes: EdgeChange[]) => {
      const gone = new Set(changes.flatMap((one) => (one.type === "remove" ? [one.id] : [])));
      if (gone.size > 0) change(remove(current(), new Set(), gone));
      setEdgesSelected((before) => {
        const after = new Set(before);
        for (const one of changes) {
          if (one.type !== "select") continue;
          if (one.selected) after.add(one.id);
          else after.delete(one.id);
        }
        return after;
      });
    },
    [change, current],
  );
  const isValid = useCallback((one: Connection | Edge) => refusal(current(), ...ends(one)) === null, [current]);
  const onConnect = useCallback((one: Connection) => change(connect(current(), ...ends(one))), [change, current]);
  const onConnectEnd = (_: unknown, state: FinalConnectionState) => {
    const { fromHandle, toHandle } = state;
    if (fromHandle === null || toHandle === null || state.isValid !== false) {
      setReason("");
      return;
    }
    const [source, target] = fromHandle.type === "source" ? [fromHandle, toHandle] : [toHandle, fromHandle];
    const refused = refusal(current(), { node: source.nodeId, port: source.id ?? "" }, { node: target.nodeId, port: target.id ?? "" });
    setReason(refused === null ? "" : told(refused));
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const isTyping = event.target instanceof HTMLElement && event.target.closest("input, textarea, select") !== null;
    if (isTyping || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    event.preventDefault();
    if (event.shiftKey) redo();
    else undo();
  };
  const chosen = nodes.filter((node) => node.selected === true);
  useEffect(() => useSelection.getState().select(chosen.map((node) => node.id)));

  return (
    <main className="canvas" aria-label={strings.canvas} onKeyDown={onKeyDown}>
      <ReactFlow<AnyNode>
        nodes={nodes}
        edges={edges}
        nodeTypes={TYPES}
        onNodesChange={onNodes}
        onEdgesChange={onEdges}
        onConnect={onConnect}
        onConnectEnd={onConnectEnd}
        isValidConnection={isValid}
        onMoveStart={(event) => {
          if (event !== null) followed.current = false;
        }}
        fitView
        fitViewOptions={FIT}
        minZoom={0.05}
        colorMode="system"
        deleteKeyCode={["Backspace", "Delete"]}
        onlyRenderVisibleElements={nodes.length > 80}
      >
        <Background />
        <MiniMap pannable zoomable ariaLabel={strings.minimap} nodeColor="#94a3b8" />
        <Controls showInteractive={false} />
      </ReactFlow>
      {nodes.length === 0 && <p className="empty">{strings.emptyCanvas}</p>}
      {chosen.length > 0 && <SelectionBar nodes={chosen.map((node) => node.data.document)} />}
      <p className="reason" role="status">
        {reason}
      </p>
    </main>
  );
}

function ends(one: Connection | Edge): [End, End] {
  return [
    { node: one.source, port: one.sourceHandle ?? "" },
    { node: one.target, port: one.targetHandle ?? "" },
  ];
}

/** The nodes to draw; those whose document is the same keep their identity, so that only changed ones are drawn anew. */
function drawn(flow: FlowDocument, changed: ReadonlySet<string>, before: AnyNode[]): AnyNode[] {
  const known = new Map(before.map((node) => [node.id, node]));
  return nodesOf(flow).map((document): AnyNode => {
    const id = idOf(document);
    const old = known.get(id);
    const isChanged = changed.has(id);
    if (old?.data.document === document && old.data.isChanged === isChanged) return old;
    const { x = 0, y = 0 } = document.position ?? {};
    const data = { document, isChanged };
    const same = { id, position: { x, y }, ...(old?.selected === true ? { selected: true } : {}) };
    return isNote(document) ? { ...same, type: "note", data } : { ...same, type: "component", data };
  });
}

function drawnEdges(flow: FlowDocument, selected: ReadonlySet<string>): Edge[] {
  const outputs = new Map(nodesOf(flow).map((node) => [idOf(node), outputsOf(node)]));
  return edgesOf(flow).map((edge) => {
    const [start, end] = [startOf(edge), endOf(edge)];
    const types = outputs.get(start.node)?.find((output) => output.name === start.port)?.types;
    const id = edgeId(edge);
    return {
      id,
      source: start.node,
      target: end.node,
      sourceHandle: start.port,
      targetHandle: end.port,
      selected: selected.has(id),
      style: { stroke: colourOf(types), strokeWidth: 2 },
    };
  });
}
