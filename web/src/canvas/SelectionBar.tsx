import { Code, CopyPlus, Link, Pencil, Trash2, Wrench } from "lucide-react";
import { useState } from "react";

import type { NodeDocument } from "../api/contract";
import { definitionOf, fieldsOf, idOf, isNote, outputsOf } from "../flow/document";
import { duplicate, remove } from "../flow/edit";
import { useApp } from "../state/app";
import { useCanvas } from "../state/canvas";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { ConnectDialog } from "./ConnectDialog";

/** What can be done with the selected components. */
export function SelectionBar({ nodes }: { nodes: NodeDocument[] }) {
  const [isConnecting, setConnecting] = useState(false);
  const [told, setTold] = useState("");
  const fail = useApp((app) => app.fail);
  const { change, configure } = useFlow.getState();
  const { rename, edit, choose } = useCanvas.getState();
  const flow = () => useFlow.getState().history.present;
  const ids = new Set(nodes.map(idOf));
  const only = nodes.length === 1 ? nodes[0] : undefined;
  const id = only === undefined ? "" : idOf(only);
  const isTool = only !== undefined && definitionOf(only).tool_mode === true;
  const canBeTool = only !== undefined && (isTool || fieldsOf(only).some((field) => field.tool_mode === true));
  const hasCode = only !== undefined && definitionOf(only).template["code"] !== undefined;
  return (
    <div className="selection row" role="toolbar" aria-label={strings.selection}>
      {only !== undefined && outputsOf(only).length > 0 && (
        <Button icon={<Link size={16} />} onClick={() => setConnecting(true)}>
          {strings.connectTo}
        </Button>
      )}
      {only !== undefined && <Button label={isNote(only) ? strings.editNote : strings.rename} icon={<Pencil size={16} />} onClick={() => rename(id)} />}
      {canBeTool && (
        <Button label={strings.useAsTool} icon={<Wrench size={16} />} aria-pressed={isTool} onClick={() => void configure(id, {}, { toolMode: !isTool }).catch(fail)} />
      )}
      {hasCode && <Button label={strings.showCode} icon={<Code size={16} />} onClick={() => edit({ node: id, field: "code" })} />}
      <Button
        label={strings.duplicate}
        icon={<CopyPlus size={16} />}
        onClick={() => {
          const [next, made] = duplicate(flow(), ids);
          change(next);
          choose(made);
        }}
      />
      <Button
        look="danger"
        label={strings.delete}
        icon={<Trash2 size={16} />}
        onClick={() => {
          change(remove(flow(), ids, new Set()));
          document.querySelector<HTMLElement>(".canvas")?.focus({ preventScroll: true });
        }}
      />
      {only !== undefined && isConnecting && (
        <ConnectDialog
          node={id}
          onClose={(made) => {
            setConnecting(false);
            setTold(made ?? "");
          }}
        />
      )}
      <span className="hidden" role="status">
        {told}
      </span>
    </div>
  );
}
