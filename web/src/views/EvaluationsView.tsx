import { Download } from "lucide-react";
import { useEffect, useState } from "react";

import type { Schemas } from "../api/contract";
import { request } from "../api/http";
import { hashOf, useApp } from "../state/app";
import { language, strings } from "../strings";
import { Button } from "../ui/Button";
import { bytesText } from "../ui/bytes";
import { attemptOf } from "./evaluation";

type File = Schemas["EvaluationFile"];
type Page = Schemas["LinePage"];

const LINES = 20;

/** The runs of the harness: its journals and scores line by line, its reports to save. */
export function EvaluationsView({ name }: { name: string | null }) {
  return name === null ? <Listing /> : <Journal key={name} name={name} />;
}

function Listing() {
  const fail = useApp((app) => app.fail);
  const [files, setFiles] = useState<File[] | null>(null);
  useEffect(() => {
    request<{ evaluations: File[] }>("GET", "/api/v1/evaluations?limit=200").then((page) => setFiles(page.evaluations), fail);
  }, [fail]);
  return (
    <section aria-labelledby="evaluations">
      <h2 id="evaluations">{strings.views.evaluations}</h2>
      {files?.length === 0 && <p className="hint">{strings.noEvaluations}</p>}
      <ul className="lines">
        {files?.map((file) => (
          <li key={file.name} className="row">
            {file.kind === "report" ? (
              <a className="grow" href={file.url} download>
                {file.name}
              </a>
            ) : (
              <a className="grow" href={hashOf({ view: "evaluations", name: file.name })}>
                {file.name}
              </a>
            )}
            <span className="badge">{strings.evaluationKinds[file.kind]}</span>
            <small>
              {new Date(file.updated_at).toLocaleString(language(), { dateStyle: "medium", timeStyle: "short" })} · {bytesText(file.bytes)}
            </small>
            <a className="button quiet icon" href={file.url} download aria-label={`${strings.download}: ${file.name}`} title={strings.download}>
              <Download size={16} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Journal({ name }: { name: string }) {
  const fail = useApp((app) => app.fail);
  const [page, setPage] = useState<Page | null>(null);
  const [offset, setOffset] = useState(0);
  useEffect(() => {
    const path = name.split("/").map(encodeURIComponent).join("/");
    request<Page>("GET", `/api/v1/evaluations/${path}/entries?limit=${LINES}&offset=${offset}`).then(setPage, fail);
  }, [name, offset, fail]);
  return (
    <section aria-labelledby="evaluation">
      <a href={hashOf({ view: "evaluations", name: null })}>{strings.allEvaluations}</a>
      <h2 id="evaluation">{name}</h2>
      {page === null && <p role="status">{strings.loading}</p>}
      <ol className="entries">
        {page?.entries.map(({ line, entry, error }) => {
          const attempt = attemptOf(entry);
          return (
            <li key={line} className="card" value={line}>
              <div className="row">
                <strong className="grow">{attempt.title || strings.line(line)}</strong>
                {attempt.passed !== null && (
                  <span className={`badge ${attempt.passed ? "good" : "bad"}`}>{attempt.passed ? strings.passed : strings.failed}</span>
                )}
              </div>
              {error !== null && <p className="error">{error}</p>}
              {attempt.detail !== "" && <small>{attempt.detail}</small>}
              {attempt.scores.length > 0 && (
                <dl className="metrics">
                  {attempt.scores.map(([key, value]) => (
                    <div key={key}>
                      <dt>{key.replaceAll("_", " ")}</dt>
                      <dd>{value}</dd>
                    </div>
                  ))}
                </dl>
              )}
              {entry !== null && (
                <details>
                  <summary>{strings.details}</summary>
                  <pre tabIndex={0} aria-label={strings.line(line)}>
                    {JSON.stringify(entry, null, 2)}
                  </pre>
                </details>
              )}
            </li>
          );
        })}
      </ol>
      {page !== null && page.total > LINES && (
        <div className="row">
          <Button disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - LINES))}>
            {strings.previous}
          </Button>
          <span className="hint">{strings.linesOf(offset + 1, Math.min(offset + LINES, page.total), page.total)}</span>
          <Button disabled={offset + LINES >= page.total} onClick={() => setOffset(offset + LINES)}>
            {strings.next}
          </Button>
        </div>
      )}
    </section>
  );
}
