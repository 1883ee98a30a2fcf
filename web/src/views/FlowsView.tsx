import { Copy, Plus, Settings, Trash2, Upload } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";

import type { FlowEntry, Schemas, TemplateEntry } from "../api/contract";
import { RequestFailed, request, send } from "../api/http";
import { EMPTY } from "../flow/document";
import { go, useApp } from "../state/app";
import { useFlow } from "../state/flow";
import { language, strings } from "../strings";
import { plainName } from "../ui/plainName";
import { Button } from "../ui/Button";
import { FilePicker } from "../ui/FilePicker";
import { confirmedDeletion } from "../ui/confirmed";

interface FlowPage {
  flows: FlowEntry[];
  total: number;
}

/** All flows of the user, and templates to start from. */
export function FlowsView() {
  const { fail, say, warn } = useApp();
  const [query, setQuery] = useState("");
  const [page, setPage] = useState<FlowPage | null>(null);
  const [templates, setTemplates] = useState<TemplateEntry[]>([]);

  const [stale, setStale] = useState<ReadonlyMap<string, readonly string[]>>(new Map());
  const lookForStale = useCallback(async () => {
    try {
      const found = await request<Schemas["StaleFlowPage"]>("GET", "/api/v1/flows?stale=true&limit=100");
      setStale(new Map(found.flows.map((entry) => [entry.id, entry.stale])));
    } catch (error) {
      if (!(error instanceof RequestFailed) || error.problem.status !== 503) throw error; // the engine is being installed
    }
  }, []);
  const wanted = useRef("");
  const load = useCallback(async () => {
    const asked = new URLSearchParams({ limit: "100", ...(query === "" ? {} : { q: query }) }).toString();
    wanted.current = asked;
    await useFlow.getState().save(); // the flow that was just left may have another name
    const found = await request<FlowPage>("GET", `/api/v1/flows?${asked}`);
    if (wanted.current === asked) setPage(found);
  }, [query]);
  useEffect(() => void load().then(query === "" ? lookForStale : undefined).catch(fail), [load, lookForStale, query, fail]);
  useEffect(() => {
    request<{ templates: TemplateEntry[] }>("GET", "/api/v1/templates?limit=100").then((found) => setTemplates(found.templates), fail);
  }, [fail]);

  const opened = (entry: FlowEntry) => go({ view: "flow", id: entry.id, tab: null });
  const create = () => void request<FlowEntry>("POST", "/api/v1/flows", { json: EMPTY }).then(opened, fail);
  const start = (template: TemplateEntry) =>
    void request<FlowEntry>("POST", `/api/v1/templates/${encodeURIComponent(template.name)}/flows`, { json: {} }).then(opened, fail);
  const act = (method: string, entry: FlowEntry, suffix = "") =>
    void send(method, `/api/v1/flows/${encodeURIComponent(entry.id)}${suffix}`).then(load).catch(fail);
  const bring = async (chosen: File[]) => {
    const { count, leftOut, problems } = await imported(chosen);
    await load();
    await lookForStale();
    if (problems.length > 0) warn([...(count > 0 ? [strings.imported(count)] : []), ...problems].join("\n"));
    else say([strings.imported(count), ...(leftOut.length > 0 ? [strings.leftOut(leftOut.join(" "))] : [])].join(" "));
  };

  return (
    <main
      className="flows"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        const files = [...event.dataTransfer.files];
        if (files.length > 0) bring(files).catch(fail);
      }}
    >
      <header>
        <img src="/icon.svg" alt="" width={28} height={28} />
        <h1>
          Wirewright <span className="crumb">{strings.flows}</span>
        </h1>
        <input
          type="search"
          aria-label={strings.search}
          placeholder={strings.search}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
        <a className="button quiet icon" href="#/settings" aria-label={strings.settings} title={strings.settings}>
          <Settings size={16} />
        </a>
        <FilePicker multiple accept=".json,.zip" icon={<Upload size={16} />} onChoose={(files) => void bring(files).catch(fail)}>
          {strings.import}
        </FilePicker>
        <Button look="primary" icon={<Plus size={16} />} onClick={create}>
          {strings.newFlow}
        </Button>
      </header>
      {page !== null && page.flows.length === 0 && <p className="hint">{strings.noFlows}</p>}
      <ul className="cards">
        {page?.flows.map((entry) => (
          <li key={entry.id} className="card">
            <a href={`#/flow/${encodeURIComponent(entry.id)}`} title={entry.name} dir="auto">
              <bdi>{plainName(entry.name)}</bdi>
            </a>
            <small>{strings.updated(since(entry.updated_at))}</small>
            <Stale types={stale.get(entry.id) ?? []} />
            <div className="row">
              <Button label={`${strings.duplicate}: ${entry.name}`} icon={<Copy size={16} />} onClick={() => act("POST", entry, "/duplicate")} />
              <Button
                look="danger"
                label={`${strings.delete}: ${entry.name}`}
                icon={<Trash2 size={16} />}
                onClick={() => {
                  if (confirmedDeletion(entry.name)) act("DELETE", entry);
                }}
              />
            </div>
          </li>
        ))}
      </ul>
      <h2>{strings.templates}</h2>
      <ul className="cards">
        {templates.map((template) => (
          <li key={template.name} className="card">
            <strong>{template.title}</strong>
            <p>{template.description}</p>
            <Button icon={<Plus size={16} />} className="start" onClick={() => start(template)} label={`${strings.useTemplate}: ${template.title}`}>
              {strings.useTemplate}
            </Button>
          </li>
        ))}
      </ul>
    </main>
  );
}

/** Marks a flow whose components are of an earlier engine, and says which. */
function Stale({ types }: { types: readonly string[] }) {
  return types.length === 0 ? null : <small className="badge">{strings.stale(types.join(", "))}</small>;
}

/** Stores the flows of some files: how many there were, what in archives was none, and why whole files were refused. */
async function imported(files: readonly File[]): Promise<{ count: number; leftOut: string[]; problems: string[] }> {
  let count = 0;
  const [leftOut, problems] = [new Array<string>(), new Array<string>()];
  for (const file of files) {
    const type = file.name.toLowerCase().endsWith(".zip") ? "application/zip" : "application/json";
    try {
      const { flows, skipped } = await request<Schemas["ImportedFlows"]>("POST", "/api/v1/flows/import", { body: file, headers: { "content-type": type } });
      count += flows.length;
      leftOut.push(...skipped.map(({ where, message }) => `${where}: ${message}`));
    } catch (error) {
      if (!(error instanceof RequestFailed) || error.problem.status === 0 || error.problem.status === 401) throw error;
      const { code, message, fix, where } = error.problem;
      const isOther = code === "not_json" || (code === "invalid_flow" && where === "$"); // the wrong file was chosen
      const why = isOther ? strings.notAFlow : [message, fix].filter(Boolean).join(" ");
      problems.push(files.length > 1 ? `${file.name.slice(0, 60)}: ${why}` : why);
    }
  }
  return { count, leftOut, problems };
}

function since(at: string): string {
  return new Date(at).toLocaleString(language(), { dateStyle: "medium", timeStyle: "short" });
}
