import { Suspense, lazy, useEffect } from "react";

import { go, useApp } from "../state/app";
import { useCanvas } from "../state/canvas";
import { useFlow } from "../state/flow";
import { kept } from "../state/kept";
import { strings } from "../strings";
import { Tabs } from "../ui/Tabs";
import { Conversation } from "./Conversation";
import { TryPanel } from "./TryPanel";
import { focusWhenShown } from "./focus";
import { pressed } from "./shortcut";

const TestsPanel = lazy(() => import("./TestsPanel").then((loaded) => ({ default: loaded.TestsPanel })));

const TABS = ["assistant", "try", "tests"] as const;

/** Beside the canvas: the assistant, a chat with the flow, or its tests. The address says which. */
export function Panel() {
  const tab = useApp(({ place }) => (place.view === "flow" ? place.tab : null));
  const id = useFlow((state) => state.id);
  const chosen = TABS.find((one) => one === tab) ?? "assistant";
  const choose = (next: string) => {
    if (id !== null) go({ view: "flow", id, tab: next === "assistant" ? null : next });
  };
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (pressed(event) !== kept.shortcut || id === null) return;
      event.preventDefault();
      go({ view: "flow", id, tab: null });
      useCanvas.getState().show("panel");
      focusWhenShown("message");
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [id]);
  return (
    <aside className="panel" aria-label={strings.assistant}>
      <Tabs
        label={strings.assistant}
        chosen={chosen}
        onChoose={choose}
        tabs={[
          { id: "assistant", title: strings.assistant, content: <Conversation /> },
          { id: "try", title: strings.tryFlow, content: <TryPanel /> },
          {
            id: "tests",
            title: strings.tests,
            content: (
              <Suspense fallback={<p className="log">{strings.loading}</p>}>
                <TestsPanel />
              </Suspense>
            ),
          },
        ]}
      />
    </aside>
  );
}
