import { ArrowLeft } from "lucide-react";
import { useCallback, useEffect, useState } from "react";

import type { Conversation, FlowEntry, Schemas } from "../api/contract";
import { request } from "../api/http";
import { hashOf, useApp } from "../state/app";
import { strings } from "../strings";
import { Markdown } from "../ui/Markdown";
import { Batches } from "./Batches";
import { JobItem } from "./JobItem";
import type { Job } from "./JobItem";
import { moment, useRepeated } from "./repeated";

const STATES = ["queued", "running", "done", "failed", "cancelled"] as const;

/** What the server does that nobody waits for, and what waits for the user. */
export function JobsView({ name }: { name: string | null }) {
  return name === null ? <Listing /> : <OneJob key={name} id={name} />;
}

function Listing() {
  const fail = useApp((app) => app.fail);
  const [jobs, setJobs] = useState<Job[] | null>(null);
  const [state, setState] = useState("");
  const titles = useTitles();
  const load = useCallback(() => {
    const asked = new URLSearchParams({ limit: "50", ...(state === "" ? {} : { state }) });
    request<{ jobs: Job[] }>("GET", `/api/v1/jobs?${asked.toString()}`).then((page) => setJobs(page.jobs), fail);
  }, [state, fail]);
  useRepeated(load, jobs?.some((one) => one.ended_at === null) === true);
  return (
    <>
      <Waiting titles={titles} />
      <section aria-labelledby="jobs">
        <div className="row">
          <h2 id="jobs" className="grow">
            {strings.views.jobs}
          </h2>
          <select aria-label={strings.state} value={state} onChange={(event) => setState(event.target.value)}>
            <option value="">{strings.allStates}</option>
            {STATES.map((one) => (
              <option key={one} value={one}>
                {strings.jobStates[one]}
              </option>
            ))}
          </select>
        </div>
        {jobs?.length === 0 && <p className="hint">{strings.noJobs}</p>}
        <ul className="lines">
          {jobs?.map((job) => (
            <JobItem key={job.id} job={job} title={titles.get(job.flow) ?? strings.jobKinds[job.kind]} isLinked onChanged={load} />
          ))}
        </ul>
      </section>
      <Batches />
    </>
  );
}

/** The turns that wait for an answer of the user, or go on, each with the way to its flow. */
function Waiting({ titles }: { titles: ReadonlyMap<string, string> }) {
  const fail = useApp((app) => app.fail);
  const [found, setFound] = useState<Conversation[]>([]);
  const load = useCallback(() => {
    request<{ conversations: Conversation[] }>("GET", "/api/v1/conversations?limit=100").then(
      (page) => setFound(page.conversations.filter((one) => one.waiting || one.running)),
      fail,
    );
  }, [fail]);
  useRepeated(load, found.some((one) => one.running));
  if (found.length === 0) return null;
  return (
    <section aria-labelledby="turns">
      <h2 id="turns">{strings.assistant}</h2>
      <ul className="lines">
        {found.map((one) => (
          <li key={one.id} className="card">
            <div className="row">
              {one.flow_id === null ? (
                <strong className="grow">{one.title}</strong>
              ) : (
                <a className="grow" href={hashOf({ view: "flow", id: one.flow_id, tab: null })}>
                  {[one.title, titles.get(one.flow_id)].filter(Boolean).join(" · ")}
                </a>
              )}
              <span className={`badge ${one.running ? "" : "asks"}`}>{one.running ? strings.jobStates.running : strings.waitsForYou}</span>
            </div>
            <small>{strings.since(moment(one.updated_at))}</small>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** One job: how it stands, and what it gave. */
function OneJob({ id }: { id: string }) {
  const fail = useApp((app) => app.fail);
  const [job, setJob] = useState<Schemas["KeptJob"] | null>(null);
  const titles = useTitles();
  const load = useCallback(() => {
    request<Schemas["KeptJob"]>("GET", `/api/v1/jobs/${encodeURIComponent(id)}`).then(setJob, fail);
  }, [id, fail]);
  useRepeated(load, job?.ended_at === null);
  const output = job?.result?.["output"];
  return (
    <section aria-labelledby="job">
      <div className="row">
        <a className="button quiet icon" href={hashOf({ view: "jobs", name: null })} aria-label={strings.allJobs} title={strings.allJobs}>
          <ArrowLeft size={16} />
        </a>
        <h2 id="job">{strings.job}</h2>
        <code>{id}</code>
      </div>
      {job !== null && (
        <ul className="lines">
          <JobItem job={job} title={titles.get(job.flow) ?? strings.jobKinds[job.kind]} onChanged={load} />
        </ul>
      )}
      {typeof output === "string" && output !== "" && (
        <>
          <h3>{strings.output}</h3>
          <Markdown text={output} />
        </>
      )}
      {job?.result != null && (
        <details className="entries">
          <summary>{strings.details}</summary>
          <pre tabIndex={0}>{JSON.stringify(job.result, null, 2)}</pre>
        </details>
      )}
    </section>
  );
}

/** The names of the user's flows, by id. */
function useTitles(): ReadonlyMap<string, string> {
  const fail = useApp((app) => app.fail);
  const [titles, setTitles] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => {
    request<{ flows: FlowEntry[] }>("GET", "/api/v1/flows?limit=200").then((page) => setTitles(new Map(page.flows.map(({ id, name }) => [id, name]))), fail);
  }, [fail]);
  return titles;
}
