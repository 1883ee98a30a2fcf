import type { Decision } from "../api/contract";
import { applied, measured } from "../api/measured";
import { nodesOf, titleOf } from "../flow/document";
import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { useCanvas } from "../state/canvas";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { FlowPicture } from "./FlowPicture";
import { REPLACE } from "./parts";
import type { Part } from "./parts";
import { stateText } from "./states";

/** A whole flow that waits for the user: a small picture of it, and what accepting it does. */
export function ProposalCard({ part }: { part: Extract<Part, { kind: "proposal" }> }) {
  const count = useFlow((state) => nodesOf(state.history.present).length);
  const answer = useAssistant((state) => state.answer);
  const fail = useApp((app) => app.fail);
  const { id, flow } = part;
  const decide = async (decision: Decision) => {
    if (id === null) return;
    const isAccepted = decision.decision === "approve";
    measured({ name: `assistant_flow_proposal_${isAccepted ? "continue" : "dismiss"}_total` });
    const begun = performance.now();
    if (isAccepted) useCanvas.getState().show("canvas");
    await answer(id, decision, decision === REPLACE ? "replaced" : undefined);
    if (isAccepted && flow !== null) applied(begun, nodesOf(flow).length);
  };
  return (
    <section className="card" aria-label={strings.proposal(part.name)}>
      <h2>{part.name}</h2>
      {flow !== null && <FlowPicture flow={flow} />}
      {flow !== null && <p>{nodesOf(flow).map(titleOf).join(" · ")}</p>}
      {part.state === "open" && id !== null ? (
        <div className="row">
          <Button look="primary" onClick={() => void decide({ decision: "approve" }).catch(fail)}>
            {count === 0 ? strings.putOnCanvas(0) : strings.addToCanvas}
          </Button>
          {count > 0 && <Button onClick={() => void decide(REPLACE).catch(fail)}>{strings.putOnCanvas(count)}</Button>}
          <Button onClick={() => void decide({ decision: "deny" }).catch(fail)}>{strings.dismiss}</Button>
        </div>
      ) : (
        <small>{stateText(part.state)}</small>
      )}
    </section>
  );
}
