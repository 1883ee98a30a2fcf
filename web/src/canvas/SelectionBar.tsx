import { CopyPlus, Link, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";

import type { NodeDocument } from "../api/contract";
import { idOf, outputsOf, titleOf } from "../flow/document";
import { duplicate, remove, rename } from "../flow/edit";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { ConnectDialog } from "./ConnectDialog";

/** What can be done with the selected components. */
export function SelectionBar({ nodes }: { nodes: NodeDocument[] }) {
  const [doing, setDoing] = useState<"connecting" | "renaming" | null>(null);
  const { change } = useFlow.getState();
  const flow = () => useFlow.getState().history.present;
  const ids = new Set(nodes.map(idOf));
  const only = nodes.length === 1 ? nodes[0] : undefined;
  return (
    <div className="selection row" role="toolbar" aria-label={strings.selection}>
      {only !== undefined && outputsOf(only).length > 0 && (
        <Button icon={<Link size={16} />} onClick={() => setDoing("connecting")}>
          {strings.connectTo}
        </Button>
      )}
      {only !== undefined && <Button label={strings.rename} icon={<Pencil size={16} />} onClick={() => setDoing("renaming")} />}
      <Button label={strings.duplicate} icon={<CopyPlus size={16} />} onClick={() => change(duplicate(flow(), ids)[0])} />
      <Button look="danger" label={strings.delete} icon={<Trash2 size={16} />} onClick={() => change(remove(flow(), ids, new Set()))} />
      {only !== undefined && doing === "connecting" && <ConnectDialog node={idOf(only)} onClose={() => setDoing(null)} />}
      {only !== undefined && doing === "renaming" && (
        <RenameDialog title={titleOf(only)} onClose={() => setDoing(null)} onRename={(title) => change(rename(flow(), idOf(only), title))} />
      )}
    </div>
  );
}

function RenameDialog({ title, onRename, onClose }: { title: string; onRename: (title: string) => void; onClose: () => void }) {
  const [text, setText] = useState(title);
  return (
    <Dialog title={strings.rename} onClose={onClose}>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          onRename(text.trim());
          onClose();
        }}
      >
        <input className="grow" aria-label={strings.name} value={text} onChange={(event) => setText(event.target.value)} />
        <Button type="submit" look="primary" disabled={text.trim() === ""}>
          {strings.save}
        </Button>
      </form>
    </Dialog>
  );
}
