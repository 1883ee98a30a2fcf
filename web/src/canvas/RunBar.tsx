import { Square } from "lucide-react";

import { idOf, nodesOf, titleOf } from "../flow/document";
import { useApp } from "../state/app";
import { useCanvas } from "../state/canvas";
import { useFlow } from "../state/flow";
import { useRun } from "../state/run";
import { strings } from "../strings";
import { Button } from "../ui/Button";

/** What the run does now, with a way to stop it; and where it has failed, with a way there. */
export function RunBar() {
  const { isRunning, nodes, failed, stop, forgetFailure } = useRun();
  const flow = useFlow((state) => state.history.present);
  const fail = useApp((app) => app.fail);
  const named = (id: string) => {
    const node = nodesOf(flow).find((one) => idOf(one) === id);
    return node === undefined ? id : titleOf(node);
  };
  const now = [...nodes].filter(([, state]) => state === "running").map(([id]) => named(id));
  if (isRunning) {
    return (
      <section className="run-bar" aria-label={strings.progress}>
        <p role="status">{now.length === 0 ? strings.running : strings.runsNow(now.join(", "))}</p>
        <Button icon={<Square size={14} />} onClick={() => void stop().catch(fail)}>
          {strings.stopRun}
        </Button>
      </section>
    );
  }
  if (failed === null) return null;
  return (
    <section className="run-bar failed" aria-label={strings.progress}>
      <p role="alert">{strings.failedAt(named(failed.node), failed.message)}</p>
      <Button onClick={() => useCanvas.getState().goTo(failed.node)}>{strings.goTo(named(failed.node))}</Button>
      <Button onClick={forgetFailure}>{strings.close}</Button>
    </section>
  );
}
