import { useState } from "react";

import { targets } from "../flow/connect";
import { idOf, labelOf, nodesOf, outputsOf, titleOf } from "../flow/document";
import { connect } from "../flow/edit";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { Dialog } from "../ui/Dialog";

/** Connecting an output by keyboard: each legal target by its name. */
export function ConnectDialog({ node: id, onClose }: { node: string; onClose: () => void }) {
  const flow = useFlow((state) => state.history.present);
  const node = nodesOf(flow).find((one) => idOf(one) === id);
  const outputs = node === undefined ? [] : outputsOf(node);
  const [port, setPort] = useState(outputs[0]?.name ?? "");
  const from = { node: id, port };
  return (
    <Dialog title={strings.connectTo} onClose={onClose}>
      {outputs.length > 1 && (
        <select aria-label={strings.output} value={port} onChange={(event) => setPort(event.target.value)}>
          {outputs.map((output) => (
            <option key={output.name} value={output.name}>
              {labelOf(output)}
            </option>
          ))}
        </select>
      )}
      <ul className="choices">
        {targets(flow, from).map(({ end, node: target, field }) => (
          <li key={`${end.node} ${end.port}`}>
            <button
              type="button"
              onClick={() => {
                useFlow.getState().change(connect(flow, from, end));
                onClose();
              }}
            >
              <strong dir="auto">{titleOf(target)}</strong> {labelOf(field)}
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
