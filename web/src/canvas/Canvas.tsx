import { Background, ControlButton, Controls, MiniMap, ReactFlow, ReactFlowProvider, applyNodeChanges } from "@xyflow/react";
import type { Connection, Edge, EdgeChange, FinalConnectionState, NodeChange } from "@xyflow/react";
import { LocateFixed } from "lucide-react";
import { Suspense, memo, useCallback, useEffect, useMemo, useRef, useState } from "react";

import type { FlowDocument } from "../api/contract";
import { refusal } from "../flow/connect";
import { together } from "../flow/difference";
import type { Difference } from "../flow/difference";
import { idOf, nodesOf } from "../flow/document";
import type { End } from "../flow/document";
import { connect, move, remove } from "../flow/edit";
import type { Point } from "../flow/edit";
import { useCanvas } from "../state/canvas";
import { useFlow } from "../state/flow";
import { useRun } from "../state/run";
import { useWaiting } from "../state/waiting";
import { useSelection } from "../state/selection";
import { strings } from "../strings";
import { Dialog } from "../ui/Dialog";
import { FlowNode } from "./FlowNode";
import { GhostNode } from "./GhostNode";
import { Legend } from "./Legend";
import { NoteNode } from "./NoteNode";
import { RunBar } from "./RunBar";
import { SelectionBar } from "./SelectionBar";
import { Wire } from "./Wire";
import { drawn, drawnEdges, measured, namesIn } from "./drawing";
import type { AnyNode } from "./drawing";
import type { CanvasEdge } from "./Wire";
import { MANY } from "./estimate";
import { FieldDialog } from "./fields/controls";
import { told } from "./refusals";
import { useDrop } from "./useDrop";
import { useKeys } from "./useKeys";
import { ARRANGED, FIT, useView } from "./useView";
import { WaitingBar } from "./waiting/WaitingBar";

export { ARRANGED };

const NODES = { component: FlowNode, note: NoteNode, ghost: GhostNode };
const EDGES = { wire: Wire };
const DELETE = ["Backspace", "Delete"];
const LABELS = { "controls.zoomIn.ariaLabel": strings.zoomIn, "controls.zoomOut.ariaLabel": strings.zoomOut, "controls.fitView.ariaLabel": strings.fit };

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
  const { change } = useFlow.getState();
  const waiting = useWaiting();
  const waits = useMemo(() => together(waiting.map((one) => one.difference)), [waiting]);
  const [nodes, setNodes] = useState<AnyNode[]>([]);
  const [edgesSelected, setEdgesSelected] = useState<ReadonlySet<string>>(new Set());
  const [reason, setReason] = useState("");
  const root = useRef<HTMLElement>(null);
  const { edited, edit, value, look } = useCanvas();
  useView(waits.added.map(idOf).join("\n"));

  const [shown, setShown] = useState<{ flow: FlowDocument; changed: ReadonlySet<string>; waits: Difference } | null>(null);
  if (shown?.flow !== flow || shown.changed !== changed || shown.waits !== waits) {
    setShown({ flow, changed, waits });
    setNodes(drawn(flow, changed, waits, nodes));
  }
  const edges = useEdges(flow, edgesSelected, waits);
  const selected = nodes.flatMap((node) => (node.selected === true ? [node.id] : [])).join("\n");
  const ids = useMemo(() => namesIn(selected), [selected]);
  const chosen = useMemo(() => nodesOf(flow).filter((node) => ids.has(idOf(node))), [flow, ids]);
  useEffect(() => useSelection.getState().select([...ids]), [ids]);
  const select = useCallback((wanted: ReadonlySet<string>) => {
    setNodes((before) => before.map((node) => (node.type === "ghost" || (node.selected === true) === wanted.has(node.id) ? node : { ...node, selected: wanted.has(node.id) })));
  }, []);
  const chosenByHand = useCanvas((state) => state.chosen);
  const [taken, setTaken] = useState<ReadonlySet<string> | null>(null);
  if (chosenByHand !== null && chosenByHand !== taken) {
    setTaken(chosenByHand);
    select(chosenByHand);
  }
  const keys = useKeys(ids, select);
  const { isOver, handlers } = useDrop();
  const current = useCallback((): FlowDocument => useFlow.getState().history.present, []);

  const onNodes = useCallback(
    (changes: NodeChange<AnyNode>[]) => {
      setNodes((before) => measured(applyNodeChanges(changes, before), changes));
      const places = new Map<string, Point>();
      for (const one of changes) {
        if (one.type === "position" && one.dragging === false && one.position !== undefined) places.set(one.id, one.position);
      }
      if (places.size > 0) change(move(current(), places));
      const gone = new Set(changes.flatMap((one) => (one.type === "remove" ? [one.id] : [])));
      if (gone.size > 0) {
        change(remove(current(), gone, new Set()));
        root.current?.focus({ preventScroll: true });
      }
    },
    [change, current],
  );
  const onEdges = useCallback(
    (changes: EdgeChange<CanvasEdge>[]) => {
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
  const onConnectEnd = useCallback(
    (_: unknown, { fromHandle, toHandle, isValid: fits }: FinalConnectionState) => {
      if (fromHandle === null || toHandle === null || fits !== false) {
        setReason("");
        return;
      }
      const [source, target] = fromHandle.type === "source" ? [fromHandle, toHandle] : [toHandle, fromHandle];
      const refused = refusal(current(), { node: source.nodeId, port: source.id ?? "" }, { node: target.nodeId, port: target.id ?? "" });
      setReason(refused === null ? "" : told(refused));
    },
    [current],
  );
  const onMoveStart = useCallback((event: unknown) => {
    if (event !== null) useCanvas.getState().follow(false);
  }, []);

  return (
    <main ref={root} className={`canvas ${isOver ? "over" : ""}`} aria-label={strings.canvas} tabIndex={-1} {...keys} {...handlers}>
      <ReactFlow<AnyNode, CanvasEdge>
        nodes={nodes}
        edges={edges}
        nodeTypes={NODES}
        edgeTypes={EDGES}
        onNodesChange={onNodes}
        onEdgesChange={onEdges}
        onConnect={onConnect}
        onConnectEnd={onConnectEnd}
        isValidConnection={isValid}
        onMoveStart={onMoveStart}
        ariaLabelConfig={LABELS}
        fitView
        fitViewOptions={FIT}
        minZoom={0.05}
        colorMode="system"
        deleteKeyCode={DELETE}
        zoomOnDoubleClick={false}
        onlyRenderVisibleElements={nodes.length > MANY}
      >
        <Surroundings />
      </ReactFlow>
      {nodes.length === 0 && <p className="empty">{strings.emptyCanvas}</p>}
      {chosen.length > 0 && <Selected nodes={chosen} />}
      <div className="bars">
        {waiting.length > 0 && <Waiting waiting={waiting} />}
        <Running />
      </div>
      <Ports />
      <p className="reason" role="status">
        {reason}
      </p>
      {edited !== null && (
        <Suspense fallback={null}>
          <FieldDialog key={`${edited.node} ${edited.field}`} edited={edited} onClose={() => edit(null)} />
        </Suspense>
      )}
      {value !== null && (
        <Dialog title={value.title} onClose={() => look(null)}>
          <pre className="whole" tabIndex={0}>
            {value.text}
          </pre>
        </Dialog>
      )}
    </main>
  );
}

const [Selected, Waiting, Running, Ports] = [memo(SelectionBar), memo(WaitingBar), memo(RunBar), memo(Legend)]; // a drag draws none of them

/** The ground, the map and the controls of the view. */
const Surroundings = memo(function Surroundings() {
  const { follows, follow } = useCanvas();
  return (
    <>
      <Background />
      <MiniMap pannable zoomable ariaLabel={strings.minimap} nodeColor={minimapColour} />
      <Controls showInteractive={false} fitViewOptions={FIT}>
        <ControlButton aria-label={strings.follow} title={strings.follow} aria-pressed={follows} onClick={() => follow(!follows)}>
          <LocateFixed aria-hidden="true" />
        </ControlButton>
      </Controls>
    </>
  );
});

/** The edges to draw; those that look as before stay the same objects. */
function useEdges(flow: FlowDocument, selected: ReadonlySet<string>, waits: Difference): CanvasEdge[] {
  const states = useRun((run) => run.nodes);
  const values = useRun((run) => run.values);
  const [kept, setKept] = useState<{ from: readonly unknown[]; edges: CanvasEdge[] }>({ from: [], edges: [] });
  const from = [flow, selected, waits, states, values];
  if (from.every((one, at) => one === kept.from[at])) return kept.edges;
  const edges = drawnEdges(flow, selected, waits, { nodes: states, values }, new Map(kept.edges.map((edge) => [edge.id, edge])));
  setKept({ from, edges });
  return edges;
}

function minimapColour({ data }: AnyNode): string {
  if (data.fate === "added") return "#16a34a";
  if (data.fate === "removed") return "#dc2626";
  return data.changes.length > 0 ? "#d97706" : "#94a3b8";
}

function ends(one: Connection | Edge): [End, End] {
  return [
    { node: one.source, port: one.sourceHandle ?? "" },
    { node: one.target, port: one.targetHandle ?? "" },
  ];
}
