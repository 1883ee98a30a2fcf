import { Shapes } from "lucide-react";
import { useState } from "react";

import { fieldsOf, nodesOf, outputsOf } from "../flow/document";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { lookOf } from "./colours";

/** What the ports on the canvas take and give, by shape, letter and colour. */
export function Legend() {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="legend" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Shapes size={16} aria-hidden="true" />
        {strings.legend}
      </summary>
      {isOpen && <Entries />}
    </details>
  );
}

function Entries() {
  const flow = useFlow((state) => state.history.present);
  const types = new Set(
    nodesOf(flow).flatMap((node) => [...outputsOf(node).map((one) => one.types?.[0]), ...fieldsOf(node).map((one) => one.input_types?.[0])]),
  );
  const named = Map.groupBy([...types].filter((type) => type !== undefined).sort(), (type) => `${lookOf([type]).shape} ${lookOf([type]).letter}`);
  return (
    <ul>
      {[...named].map(([key, same]) => {
        const { colour, shape, letter } = lookOf(same);
        return (
          <li key={key}>
            <span className={`port ${shape}`} style={{ "--port": colour } as React.CSSProperties} data-letter={letter} aria-hidden="true" />
            {same.join(", ")}
          </li>
        );
      })}
    </ul>
  );
}
