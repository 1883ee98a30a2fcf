import { ArrowLeft, Download, GitCommitHorizontal, LayoutGrid, Plus, Redo2, StickyNote, Undo2 } from "lucide-react";
import { Suspense, lazy, useState } from "react";
import { useShallow } from "zustand/react/shallow";

import type { FlowDocument } from "../api/contract";
import { send } from "../api/http";
import { withoutSecrets } from "../flow/clipboard";
import { connectedFields, edgesOf, idOf, nodesOf, textOf } from "../flow/document";
import { addNote, move } from "../flow/edit";
import { useApp } from "../state/app";
import { useCanvas } from "../state/canvas";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { ARRANGED } from "./useView";
import { Palette, freePlace } from "./Palette";
import { estimated } from "./estimate";

const RevisionsDialog = lazy(() => import("./RevisionsDialog").then((loaded) => ({ default: loaded.RevisionsDialog })));

/** What can be done with the whole flow, and whether it is saved. */
export function Toolbar() {
  const [id, history, saving, problem] = useFlow(useShallow((state) => [state.id, state.history, state.saving, state.problem] as const));
  const { undo, redo, change, save } = useFlow.getState();
  const fail = useApp((app) => app.fail);
  const [isAdding, setAdding] = useState(false);
  const [isLooking, setLooking] = useState(false);
  const flow = history.present;
  const arranged = async () => {
    const { arrange } = await import("../flow/layout");
    const documents = new Map(nodesOf(flow).map((node) => [idOf(node), node]));
    const sizeOf = (id: string) => {
      const drawn = document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
      if (drawn !== null) return { width: drawn.offsetWidth, height: drawn.offsetHeight };
      const known = documents.get(id);
      return known === undefined ? { width: 0, height: 0 } : estimated(known, connectedFields(flow, id)).measured;
    };
    change(move(flow, arrange(flow, sizeOf)));
    requestAnimationFrame(() => window.dispatchEvent(new Event(ARRANGED)));
  };
  const note = () => {
    const [next, id] = addNote(flow, freePlace(flow));
    change(next);
    useCanvas.getState().choose(new Set([id]));
    useCanvas.getState().goTo(id);
    useCanvas.getState().rename(id);
  };
  const download = async () => {
    if (id === null) return;
    await save();
    const text = await (await send("GET", `/api/v1/flows/${encodeURIComponent(id)}/export`)).text();
    const whole = JSON.parse(text) as FlowDocument;
    const nodes = nodesOf(whole).map(withoutSecrets);
    const isBare = JSON.stringify(nodes) !== JSON.stringify(nodesOf(whole)); // a file is passed on
    const body = isBare ? JSON.stringify({ ...whole, data: { ...whole.data, nodes } }, null, 2) : text;
    if (isBare) useApp.getState().say(strings.keysLeftOut);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([body], { type: "application/json" }));
    link.download = `${textOf(flow.name) ?? "flow"}.json`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <header className="toolbar">
      <a className="button quiet icon" href="#/flows" aria-label={strings.back} title={strings.back}>
        <ArrowLeft size={16} />
      </a>
      <h1 className="hidden">{textOf(flow.name)}</h1>
      <input
        className="title"
        dir="auto"
        aria-label={strings.name}
        value={textOf(flow.name) ?? ""}
        onChange={(event) => change({ ...flow, name: event.target.value }, { amends: true })}
      />
      <Button label={strings.undo} icon={<Undo2 size={16} />} disabled={history.past.length === 0} onClick={undo} />
      <Button label={strings.redo} icon={<Redo2 size={16} />} disabled={history.future.length === 0} onClick={redo} />
      <Button label={strings.layout} icon={<LayoutGrid size={16} />} disabled={nodesOf(flow).length + edgesOf(flow).length === 0} onClick={() => void arranged().catch(fail)} />
      <Button label={strings.addComponent} icon={<Plus size={16} />} onClick={() => setAdding(true)} />
      <Button label={strings.addNote} icon={<StickyNote size={16} />} onClick={note} />
      <Button label={strings.history} icon={<GitCommitHorizontal size={16} />} onClick={() => void save().then(() => setLooking(true))} />
      <Button label={strings.export} icon={<Download size={16} />} onClick={() => void download().catch(fail)} />
      <span className="saving" role="status">
        {saving === "saved" ? strings.saved : saving === "failed" || saving === "conflict" ? strings.notSaved : strings.saving}
      </span>
      {saving === "failed" && (
        <>
          <span>{problem?.message}</span>
          <Button onClick={() => void save()}>{strings.tryAgain}</Button>
        </>
      )}
      {saving === "conflict" && (
        <>
          <span>{strings.conflict}</span>
          <Button onClick={() => useCanvas.getState().show("canvas")}>{strings.showChange}</Button>
        </>
      )}
      {isLooking && (
        <Suspense fallback={null}>
          <RevisionsDialog onClose={() => setLooking(false)} />
        </Suspense>
      )}
      {isAdding && <Palette onClose={() => setAdding(false)} />}
    </header>
  );
}
