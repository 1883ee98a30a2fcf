import { idOf, nodesOf, titleOf } from "../../flow/document";
import { go } from "../../state/app";
import { useFlow } from "../../state/flow";
import { strings, language } from "../../strings";
import { Button } from "../../ui/Button";
import { Markdown } from "../../ui/Markdown";
import { money } from "../../ui/money";
import { RUN_INPUT } from "../TryPanel";
import { focusWhenShown } from "../focus";
import type { Part } from "../parts";

/** What a run of the flow gave, and what it took. */
export function RunCard({ part }: { part: Extract<Part, { kind: "run" }> }) {
  const { metrics, models, hosts } = part;
  const flow = useFlow((state) => state.history.present);
  const titles = new Map(nodesOf(flow).map((node) => [idOf(node), titleOf(node)]));
  const number = (value: number) => value.toLocaleString(language());
  return (
    <section className="card run" aria-label={strings.run} data-ok={part.error === null}>
      <h2>{part.error === null ? strings.runDone : strings.runFailed}</h2>
      {part.error !== null ? !part.isTold && <p className="error">{part.error}</p> : part.output === null || part.output.trim() === "" ? <Nothing /> : <Markdown text={part.output} />}
      {metrics !== null && (
        <dl className="metrics">
          <Metric name={strings.duration} value={strings.seconds(metrics.seconds)} />
          {metrics.model_calls > 0 && (
            <>
              <Metric name={strings.tokensSent} value={number(metrics.input_tokens)} />
              <Metric name={strings.tokensReceived} value={number(metrics.output_tokens)} />
              <Metric name={strings.modelCalls} value={number(metrics.model_calls)} />
              {metrics.cost != null && <Metric name={strings.cost} value={money(metrics.cost)} />}
            </>
          )}
          {models.length > 0 && <Metric name={strings.model} value={models.map((id) => titles.get(id) ?? id).join(", ")} />}
          {hosts.length > 0 && <Metric name={strings.reached} value={hosts.join(", ")} />}
        </dl>
      )}
    </section>
  );
}

/** In place of an answer: what to do about it. */
function Nothing() {
  const id = useFlow((state) => state.id);
  const tryIt = () => {
    if (id === null) return;
    go({ view: "flow", id, tab: "try" });
    focusWhenShown(RUN_INPUT);
  };
  return (
    <>
      <p>{strings.answeredNothing}</p>
      <div className="row">
        <Button onClick={tryIt}>{strings.tryWithMessage}</Button>
      </div>
    </>
  );
}

function Metric({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
