import { strings, language } from "../../strings";
import { Markdown } from "../../ui/Markdown";
import type { Part } from "../parts";

/** What a run of the flow gave, and what it took. */
export function RunCard({ part }: { part: Extract<Part, { kind: "run" }> }) {
  const { metrics, models, hosts } = part;
  const number = (value: number) => value.toLocaleString(language());
  return (
    <section className="card run" aria-label={strings.run} data-ok={part.error === null}>
      <h2>{part.error === null ? strings.runDone : strings.runFailed}</h2>
      {part.error === null ? part.output !== null && <Markdown text={part.output} /> : <p className="error">{part.error}</p>}
      {metrics !== null && (
        <dl className="metrics">
          <Metric name={strings.duration} value={strings.seconds(metrics.seconds)} />
          {metrics.model_calls > 0 && (
            <>
              <Metric name={strings.tokensSent} value={number(metrics.input_tokens)} />
              <Metric name={strings.tokensReceived} value={number(metrics.output_tokens)} />
              <Metric name={strings.modelCalls} value={number(metrics.model_calls)} />
            </>
          )}
          {models.length > 0 && <Metric name={strings.model} value={models.join(", ")} />}
          {hosts.length > 0 && <Metric name={strings.reached} value={hosts.join(", ")} />}
        </dl>
      )}
    </section>
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
