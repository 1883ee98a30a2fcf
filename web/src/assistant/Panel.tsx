import { useState } from "react";

import { strings } from "../strings";
import { Tabs } from "../ui/Tabs";
import { Conversation } from "./Conversation";
import { TryPanel } from "./TryPanel";

/** Beside the canvas: the assistant, or a chat with the flow. */
export function Panel() {
  const [chosen, setChosen] = useState("assistant");
  return (
    <aside className="panel" aria-label={strings.assistant}>
      <Tabs
        label={strings.assistant}
        chosen={chosen}
        onChoose={setChosen}
        tabs={[
          { id: "assistant", title: strings.assistant, content: <Conversation /> },
          { id: "try", title: strings.tryFlow, content: <TryPanel /> },
        ]}
      />
    </aside>
  );
}
