import { Download, RotateCcw, Square } from "lucide-react";
import { useCallback, useState } from "react";

import type { Schemas } from "../api/contract";
import { request, send } from "../api/http";
import { useApp } from "../state/app";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { moment, useRepeated } from "./repeated";

type Batch = Schemas["BatchEntry"];

/** The batches of the user: how far each is, with a way to end it, or to run again what has failed. */
export function Batches() {
  const fail = useApp((app) => app.fail);
  const [batches, setBatches] = useState<Batch[]>([]);
  const load = useCallback(() => {
    request<{ batches: Batch[] }>("GET", "/api/v1/batches?limit=50").then((page) => setBatches(page.batches), fail);
  }, [fail]);
  useRepeated(load, batches.some((one) => !one.ended));
  if (batches.length === 0) return null;
  return (
    <section aria-labelledby="batches">
      <h2 id="batches">{strings.batches}</h2>
      <ul className="lines">
        {batches.map((batch) => (
          <BatchItem key={batch.id} batch={batch} onChanged={load} />
        ))}
      </ul>
    </section>
  );
}

function BatchItem({ batch, onChanged }: { batch: Batch; onChanged: () => void }) {
  const fail = useApp((app) => app.fail);
  const path = `/api/v1/batches/${encodeURIComponent(batch.id)}`;
  const act = (what: "cancel" | "retry") => void send("POST", `${path}/${what}`, { json: {} }).then(onChanged, fail);
  const count = (state: keyof Batch["counts"]) => batch.counts[state] ?? 0;
  const gone = count("done") + count("failed") + count("cancelled");
  return (
    <li className="card" aria-label={batch.name}>
      <div className="row">
        <strong className="grow">{batch.name}</strong>
        {!batch.ended && <Button label={`${strings.cancel}: ${batch.name}`} icon={<Square size={16} />} onClick={() => act("cancel")} />}
        {batch.ended && gone > count("done") && <Button label={`${strings.tryAgain}: ${batch.name}`} icon={<RotateCcw size={16} />} onClick={() => act("retry")} />}
        <a className="button quiet icon" href={`${path}/results`} download={`${batch.id}.jsonl`} aria-label={`${strings.download}: ${batch.name}`} title={strings.download}>
          <Download size={16} />
        </a>
      </div>
      <progress aria-label={batch.name} max={batch.total} value={gone} />
      <small>
        {[strings.partOf(gone, batch.total), count("failed") > 0 ? `${strings.jobStates.failed}: ${count("failed")}` : "", moment(batch.created_at)]
          .filter(Boolean)
          .join(" · ")}
      </small>
      {batch.reason !== "" && <p className="hint">{batch.reason}</p>}
    </li>
  );
}
