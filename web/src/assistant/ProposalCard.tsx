import type { Decision } from "../api/contract";
import { applied, measured } from "../api/measured";
import { edgesOf, idOf, nodesOf, titleOf } from "../flow/document";
import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { useCanvas } from "../state/canvas";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { REPLACE } from "./parts";
import type { Part } from "./parts";
import { stateText } from "./states";

const [WIDTH, HEIGHT] = [300, 120];

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
      {flow !== null && <Picture flow={flow} />}
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

function Picture({ flow }: { flow: NonNullable<Extract<Part, { kind: "proposal" }>["flow"]> }) {
  const nodes = nodesOf(flow).map((node) => ({ id: idOf(node), x: node.position?.["x"] ?? 0, y: node.position?.["y"] ?? 0 }));
  const [left, top] = [Math.min(...nodes.map((node) => node.x)), Math.min(...nodes.map((node) => node.y))];
  const [width, height] = [Math.max(1, ...nodes.map((node) => node.x - left)), Math.max(1, ...nodes.map((node) => node.y - top))];
  const place = (id: string) => {
    const node = nodes.find((one) => one.id === id);
    return { x: 24 + (((node?.x ?? left) - left) / width) * (WIDTH - 48), y: 16 + (((node?.y ?? top) - top) / height) * (HEIGHT - 32) };
  };
  return (
    <svg className="picture" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      {edgesOf(flow).map((edge, at) => {
        const [from, to] = [place(edge.source), place(edge.target)];
        return <line key={at} x1={from.x} y1={from.y} x2={to.x} y2={to.y} />;
      })}
      {nodes.map(({ id }) => {
        const { x, y } = place(id);
        return <rect key={id} x={x - 16} y={y - 8} width={32} height={16} rx={4} />;
      })}
    </svg>
  );
}
