import { MessageSquare, Workflow } from "lucide-react";
import { useEffect, useState } from "react";

import { Panel } from "../assistant/Panel";
import { focusWhenShown } from "../assistant/focus";
import { Canvas } from "../canvas/Canvas";
import { Toolbar } from "../canvas/Toolbar";
import { RequestFailed } from "../api/http";
import { nodesOf } from "../flow/document";
import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { useCanvas } from "../state/canvas";
import { draftOf, isBlank } from "../state/draft";
import { useFlow } from "../state/flow";
import { kept } from "../state/kept";
import { watch } from "../state/watch";
import { strings } from "../strings";
import { Boundary } from "../ui/Boundary";
import { Button } from "../ui/Button";

/** A screen that shows the panel beside the canvas; on others a focus would open a keyboard over both. */
const WIDE = window.matchMedia("(min-width: 801px)");

useFlow.subscribe(({ merges, renewals }, before) => {
  if (merges > before.merges) useApp.getState().say(strings.merged);
  if (renewals > before.renewals) useApp.getState().say(strings.renewed);
});

/** One flow: its canvas, and the assistant beside it. */
export function FlowView({ id }: { id: string }) {
  const fail = useApp((app) => app.fail);
  const [isReady, setReady] = useState(false);
  const [isMissing, setMissing] = useState(false);
  const { side, show } = useCanvas();
  const tab = useApp(({ place }) => (place.view === "flow" ? place.tab : null));
  useEffect(() => {
    if (tab !== null) show("panel");
  }, [tab, show]);
  useEffect(() => {
    const load = async () => {
      const draft = draftOf(id);
      const renewed = await useFlow.getState().open(id);
      if (renewed > 0) useApp.getState().say(strings.newIds(renewed));
      useCanvas.getState().choose(new Set(isBlank(draft) ? [] : draft.selected)); // not what was selected in another flow
      const known = kept.sessionOf(id);
      setReady(true);
      const isEmpty = nodesOf(useFlow.getState().history.present).length === 0;
      show(isEmpty || tabNow() !== null ? "panel" : "canvas");
      if (isEmpty && WIDE.matches) focusWhenShown("message");
      if (known === null) {
        useAssistant.getState().startNew();
        kept.keepSession(id, useAssistant.getState().session);
      } else await useAssistant.getState().open(known);
    };
    load().catch((error: unknown) => {
      if (error instanceof RequestFailed && error.problem.status === 404) setMissing(true);
      else fail(error);
    });
    return () => {
      void useFlow.getState().save();
    };
  }, [id, fail, show]);
  useEffect(() => {
    const again = () => void useFlow.getState().save();
    window.addEventListener("online", again);
    return () => window.removeEventListener("online", again);
  }, []);
  useEffect(watch, []);
  useEffect(() => {
    const leave = (event: BeforeUnloadEvent) => {
      if (useFlow.getState().saving !== "saved") event.preventDefault();
    };
    window.addEventListener("beforeunload", leave);
    return () => window.removeEventListener("beforeunload", leave);
  }, []);
  if (isMissing) return <NoFlow />;
  return (
    <div className="workspace" data-side={side}>
      <Toolbar />
      {isReady ? (
        <Boundary fallback={<BrokenCanvas />}>
          <Canvas />
        </Boundary>
      ) : (
        <p className="center" role="status">
          {strings.loading}
        </p>
      )}
      <Panel />
      <nav className="sides" aria-label={strings.shown}>
        <Button icon={<Workflow size={16} />} aria-pressed={side === "canvas"} onClick={() => show("canvas")}>
          {strings.canvas}
        </Button>
        <Button icon={<MessageSquare size={16} />} aria-pressed={side === "panel"} onClick={() => show("panel")}>
          {strings.assistant}
        </Button>
      </nav>
    </div>
  );
}

function tabNow(): string | null {
  const { place } = useApp.getState();
  return place.view === "flow" ? place.tab : null;
}

/** In place of a flow that the server does not have. */
function NoFlow() {
  return (
    <main className="center">
      <p role="alert">{strings.noSuchFlow}</p>
      <p>
        <a href="#/flows">{strings.back}</a>
      </p>
    </main>
  );
}

/** In place of a canvas that cannot be drawn; the bar above it still exports the flow, undoes and lists revisions. */
function BrokenCanvas() {
  return (
    <main className="canvas" aria-label={strings.canvas}>
      <p className="empty" role="alert">
        {strings.unreadable}
      </p>
    </main>
  );
}
