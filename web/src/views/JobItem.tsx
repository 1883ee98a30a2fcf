import { RotateCcw, Square } from "lucide-react";

import type { Schemas } from "../api/contract";
import { send } from "../api/http";
import { hashOf, useApp } from "../state/app";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { moment } from "./repeated";

export type Job = Schemas["Job"];

interface JobItemProps {
  job: Omit<Job, "owner">;
  title: string;
  /** Whether its name leads to what it gave. */
  isLinked?: boolean;
  onChanged: () => void;
}

/** A job as it stands: since when, on which worker, whether it was taken up again; with a way to end it, or to try it again. */
export function JobItem({ job, title, isLinked = false, onChanged }: JobItemProps) {
  const fail = useApp((app) => app.fail);
  const act = (what: "cancel" | "retry") => void send("POST", `/api/v1/jobs/${encodeURIComponent(job.id)}/${what}`).then(onChanged, fail);
  const canRetry = job.state === "failed" || job.state === "cancelled";
  return (
    <li className="card" aria-label={title}>
      <div className="row">
        {isLinked ? (
          <a className="grow" href={hashOf({ view: "jobs", name: job.id })}>
            {title}
          </a>
        ) : (
          <strong className="grow">{title}</strong>
        )}
        {job.state === "running" && job.attempts > 1 && <span className="badge">{strings.resumed}</span>}
        <span className={`badge ${job.state === "done" ? "good" : job.state === "failed" ? "bad" : ""}`}>{strings.jobStates[job.state]}</span>
        {job.ended_at === null && <Button label={`${strings.cancel}: ${title}`} icon={<Square size={16} />} onClick={() => act("cancel")} />}
        {canRetry && <Button label={`${strings.tryAgain}: ${title}`} icon={<RotateCcw size={16} />} onClick={() => act("retry")} />}
      </div>
      <small>{toldOf(job)}</small>
      {job.error !== null && <p className="error">{job.error}</p>}
    </li>
  );
}

/** Since when it stands as it does, where, and how often it was begun. */
function toldOf(job: JobItemProps["job"]): string {
  const when = job.ended_at === null ? strings.since(moment(job.started_at ?? job.queued_at)) : moment(job.ended_at);
  const worker = job.worker === "" ? "" : strings.onWorker(job.worker);
  return [strings.jobKinds[job.kind], when, worker, job.attempts > 1 ? strings.attempts(job.attempts) : ""].filter(Boolean).join(" · ");
}
