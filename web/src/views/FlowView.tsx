import { useEffect, useState } from "react";

import { Panel } from "../assistant/Panel";
import { Canvas } from "../canvas/Canvas";
import { Toolbar } from "../canvas/Toolbar";
import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { useFlow } from "../state/flow";
import { kept } from "../state/kept";
import { strings } from "../strings";
import { Boundary } from "../ui/Boundary";

/** One flow: its canvas, and the assistant beside it. */
export function FlowView({ id }: { id: string }) {
  const fail = useApp((app) => app.fail);
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    const load = async () => {
      await useFlow.getState().open(id);
      const known = kept.sessionOf(id);
      setReady(true);
      if (known === null) {
        useAssistant.getState().startNew();
        kept.keepSession(id, useAssistant.getState().session);
      } else await useAssistant.getState().open(known);
    };
    load().catch(fail);
    return () => {
      void useFlow.getState().save();
    };
  }, [id, fail]);
  useEffect(() => {
    const leave = (event: BeforeUnloadEvent) => {
      if (useFlow.getState().saving !== "saved") event.preventDefault();
    };
    window.addEventListener("beforeunload", leave);
    return () => window.removeEventListener("beforeunload", leave);
  }, []);
  return (
    <div className="workspace">
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
    </div>
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
