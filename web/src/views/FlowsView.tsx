import { Copy, Plus, Settings, Trash2, Upload } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";

import type { FlowEntry, Schemas, TemplateEntry } from "../api/contract";
import { request, send } from "../api/http";
import { EMPTY } from "../flow/document";
import { go, useApp } from "../state/app";
import { language, strings } from "../strings";
import { plainName } from "../ui/plainName";
import { Button } from "../ui/Button";

interface FlowPage {
  flows: FlowEntry[];
  total: number;
}

/** All flows of the user, and templates to start from. */
export function FlowsView() {
  const { fail, say } = useApp();
  const [query, setQuery] = useState("");
  const [page, setPage] = useState<FlowPage | null>(null);
  const [templates, setTemplates] = useState<TemplateEntry[]>([]);
  const file = useRef<HTMLInputElement>(null);

  const load = useCallback(() => {
    const asked = new URLSearchParams({ limit: "100", ...(query === "" ? {} : { q: query }) });
    request<FlowPage>("GET", `/api/v1/flows?${asked.toString()}`).then(setPage, fail);
  }, [query, fail]);
  useEffect(load, [load]);
  useEffect(() => {
    request<{ templates: TemplateEntry[] }>("GET", "/api/v1/templates?limit=100").then((found) => setTemplates(found.templates), fail);
  }, [fail]);

  const opened = (entry: FlowEntry) => go({ view: "flow", id: entry.id, tab: null });
  const create = () => void request<FlowEntry>("POST", "/api/v1/flows", { json: EMPTY }).then(opened, fail);
  const start = (template: TemplateEntry) =>
    void request<FlowEntry>("POST", `/api/v1/templates/${encodeURIComponent(template.name)}/flows`, { json: {} }).then(opened, fail);
  const act = (method: string, entry: FlowEntry, suffix = "") =>
    void send(method, `/api/v1/flows/${encodeURIComponent(entry.id)}${suffix}`).then(load, fail);
  const bring = (chosen: File) => {
    const type = chosen.name.endsWith(".zip") ? "application/zip" : "application/json";
    const asked = { body: chosen, headers: { "content-type": type } };
    void request<Schemas["ImportedFlows"]>("POST", "/api/v1/flows/import", asked).then(({ flows, skipped }) => {
      load();
      const leftOut = skipped.map(({ where, message }) => `${where}: ${message}`).join(" ");
      say([strings.imported(flows.length), ...(skipped.length > 0 ? [strings.leftOut(leftOut)] : [])].join(" "));
    }, fail);
  };

  return (
    <main className="flows">
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
        <input
          ref={file}
          type="file"
          accept=".json,.zip"
          hidden
          onChange={(event) => {
            const [chosen] = event.target.files ?? [];
            if (chosen !== undefined) bring(chosen);
            event.target.value = ""; // the same file can be chosen again
          }}
        />
        <a className="button quiet icon" href="#/settings" aria-label={strings.settings} title={strings.settings}>
          <Settings size={16} />
        </a>
        <Button icon={<Upload size={16} />} onClick={() => file.current?.click()}>
          {strings.import}
        </Button>
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
            <div className="row">
              <Button label={`${strings.duplicate}: ${entry.name}`} icon={<Copy size={16} />} onClick={() => act("POST", entry, "/duplicate")} />
              <Button
                look="danger"
                label={`${strings.delete}: ${entry.name}`}
                icon={<Trash2 size={16} />}
                onClick={() => {
                  if (window.confirm(`${strings.delete}: ${entry.name}?`)) act("DELETE", entry);
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

function since(at: string): string {
  return new Date(at).toLocaleString(language(), { dateStyle: "medium", timeStyle: "short" });
}
