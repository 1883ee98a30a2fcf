import type { Fault } from "../api/contract";
import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { strings } from "../strings";
import { Button } from "../ui/Button";

/** What is wrong with a component, each with a way to have it mended. */
export function Faults({ faults }: { faults: Fault[] }) {
  const send = useAssistant((assistant) => assistant.send);
  const fail = useApp((app) => app.fail);
  return (
    <ul className="faults nodrag">
      {faults.map((fault) => (
        <li key={`${fault.code} ${fault.message}`} data-severity={fault.severity}>
          {fault.message}{" "}
          <Button onClick={() => void send(strings.fixRequest(fault.message)).catch(fail)} label={`${strings.fixThis}: ${fault.message}`}>
            {strings.fixThis}
          </Button>
        </li>
      ))}
    </ul>
  );
}
