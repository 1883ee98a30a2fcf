import { useState } from "react";

import { isSetting, targets } from "../flow/connect";
import type { Target } from "../flow/connect";
import { idOf, labelOf, nodesOf, outputsOf, titleOf } from "../flow/document";
import { connect } from "../flow/edit";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { Dialog } from "../ui/Dialog";
import { walk } from "../ui/walk";

interface ConnectDialogProps {
  node: string;
  /** What was connected, in words; null if nothing was. */
  onClose: (told: string | null) => void;
}

/** Connecting an output by keyboard: the legal targets by their names, the likeliest first; it has the focus, and arrows go on. */
export function ConnectDialog({ node: id, onClose }: ConnectDialogProps) {
  const flow = useFlow((state) => state.history.present);
  const node = nodesOf(flow).find((one) => idOf(one) === id);
  const outputs = node === undefined ? [] : outputsOf(node);
  const [port, setPort] = useState(outputs[0]?.name ?? "");
  const from = { node: id, port };
  const found = targets(flow, from);
  const [inputs, settings] = [found.filter(({ field }) => !isSetting(field)), found.filter(({ field }) => isSetting(field))];
  const take = ({ end, node: target, field }: Target) => {
    useFlow.getState().change(connect(flow, from, end));
    onClose(strings.connected(node === undefined ? "" : titleOf(node), `${titleOf(target)} · ${labelOf(field)}`));
  };
  const listed = (some: readonly Target[], isFirst: boolean) =>
    some.map((one, at) => (
      <li key={`${one.end.node} ${one.end.port}`}>
        <button type="button" data-first={isFirst && at === 0 ? true : undefined} onClick={() => take(one)}>
          <strong dir="auto">{titleOf(one.node)}</strong> {labelOf(one.field)}
        </button>
      </li>
    ));
  return (
    <Dialog title={strings.connectTo} onClose={() => onClose(null)}>
      {outputs.length > 1 && (
        <select aria-label={strings.output} value={port} onChange={(event) => setPort(event.target.value)}>
          {outputs.map((output) => (
            <option key={output.name} value={output.name}>
              {labelOf(output)}
            </option>
          ))}
        </select>
      )}
      {found.length === 0 && <p className="hint">{strings.nothingTakes}</p>}
      <ul className="choices" onKeyDown={walk}>
        {listed(inputs, true)}
        {settings.length > 0 && inputs.length > 0 && (
          <li className="hint" role="presentation">
            {strings.furtherSettings}
          </li>
        )}
        {listed(settings, inputs.length === 0)}
      </ul>
    </Dialog>
  );
}
