import { ArrowLeft, Trash2 } from "lucide-react";
import { useCallback, useEffect, useState } from "react";

import type { Schemas, UserFile } from "../api/contract";
import { request, send } from "../api/http";
import { useApp } from "../state/app";
import { language, strings } from "../strings";
import { Button } from "../ui/Button";

type Provider = Schemas["ProviderEntry"];

/** What this user has on the server beside flows: model providers, variables, files, and what was used. */
export function SettingsView() {
  return (
    <main className="flows">
      <header>
        <a className="button quiet icon" href="#/flows" aria-label={strings.back} title={strings.back}>
          <ArrowLeft size={16} />
        </a>
        <h1>{strings.settings}</h1>
      </header>
      <Providers />
      <Variables />
      <Files />
      <Usage />
    </main>
  );
}

function Providers() {
  const { fail, load: loadConfig } = useApp();
  const [found, setFound] = useState<Provider[]>([]);
  const load = useCallback(() => {
    request<{ providers: Provider[] }>("GET", "/api/v1/providers").then((page) => setFound(page.providers), fail);
  }, [fail]);
  useEffect(load, [load]);
  const changed = async () => {
    load();
    await loadConfig();
  };
  return (
    <section aria-labelledby="providers">
      <h2 id="providers">{strings.providers}</h2>
      <ul className="cards">
        {found.map((one) => (
          <li key={one.name} className="card">
            <strong>{one.display_name}</strong>
            <small>{one.available ? strings.available : strings.needs(one.needs.map((set) => set.join(" + ")).join(", "))}</small>
            <KeyForm provider={one} onChanged={changed} />
            {one.stored && (
              <Button
                look="danger"
                label={`${strings.delete}: ${one.display_name}`}
                onClick={() => void send("DELETE", `/api/v1/providers/${encodeURIComponent(one.name)}`).then(changed).catch(fail)}
              >
                {strings.delete}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function KeyForm({ provider, onChanged }: { provider: Provider; onChanged: () => Promise<void> }) {
  const fail = useApp((app) => app.fail);
  const [values, setValues] = useState<Record<string, string>>({});
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ""));
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        send("PUT", `/api/v1/providers/${encodeURIComponent(provider.name)}`, { json: { values: given } })
          .then(() => {
            setValues({});
            return onChanged();
          })
          .catch(fail);
      }}
    >
      {provider.variables.map(({ name, source }) => (
        <label key={name}>
          <span>{source === null ? name : `${name} (${source === "stored" ? strings.stored : strings.environment})`}</span>
          <input
            type={name.includes("KEY") || name.includes("SECRET") || name.includes("TOKEN") ? "password" : "text"}
            autoComplete="off"
            value={values[name] ?? ""}
            onChange={(event) => setValues({ ...values, [name]: event.target.value })}
          />
        </label>
      ))}
      <Button type="submit" disabled={Object.keys(given).length === 0}>
        {strings.save}
      </Button>
    </form>
  );
}

function Variables() {
  const fail = useApp((app) => app.fail);
  const [names, setNames] = useState<string[]>([]);
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const load = useCallback(() => {
    request<{ variables: { name: string }[] }>("GET", "/api/v1/variables").then((page) => setNames(page.variables.map((one) => one.name)), fail);
  }, [fail]);
  useEffect(load, [load]);
  return (
    <section aria-labelledby="variables">
      <h2 id="variables">{strings.variables}</h2>
      <ul className="lines">
        {names.map((one) => (
          <li key={one} className="row">
            <code className="grow">{one}</code>
            <Button
              look="danger"
              label={`${strings.delete}: ${one}`}
              icon={<Trash2 size={16} />}
              onClick={() => void send("DELETE", `/api/v1/variables/${encodeURIComponent(one)}`).then(load, fail)}
            />
          </li>
        ))}
      </ul>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          send("PUT", `/api/v1/variables/${encodeURIComponent(name.trim())}`, { json: { value } }).then(() => {
            setName("");
            setValue("");
            load();
          }, fail);
        }}
      >
        <input aria-label={strings.name} placeholder={strings.name} value={name} onChange={(event) => setName(event.target.value)} />
        <input aria-label={strings.value} placeholder={strings.value} type="password" autoComplete="off" value={value} onChange={(event) => setValue(event.target.value)} />
        <Button type="submit" disabled={name.trim() === "" || value === ""}>
          {strings.save}
        </Button>
      </form>
    </section>
  );
}

function Files() {
  const fail = useApp((app) => app.fail);
  const [files, setFiles] = useState<UserFile[]>([]);
  const load = useCallback(() => {
    request<{ files: UserFile[] }>("GET", "/api/v1/files").then((page) => setFiles(page.files), fail);
  }, [fail]);
  useEffect(load, [load]);
  return (
    <section aria-labelledby="files">
      <h2 id="files">{strings.files}</h2>
      {files.length === 0 && <p className="hint">{strings.noFiles}</p>}
      <ul className="lines">
        {files.map((one) => (
          <li key={one.path} className="row">
            <a className="grow" href={one.url} download>
              {one.path}
            </a>
            <small>{one.size.toLocaleString(language())} B</small>
            <Button look="danger" label={`${strings.delete}: ${one.path}`} icon={<Trash2 size={16} />} onClick={() => void send("DELETE", one.url).then(load, fail)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Usage() {
  const fail = useApp((app) => app.fail);
  const [usage, setUsage] = useState<Schemas["UsageReply"] | null>(null);
  useEffect(() => {
    request<Schemas["UsageReply"]>("GET", "/api/v1/usage").then(setUsage, fail);
  }, [fail]);
  if (usage === null) return null;
  const number = (value: number) => value.toLocaleString(language());
  const { total } = usage;
  return (
    <section aria-labelledby="usage">
      <h2 id="usage">{strings.usage}</h2>
      <p>
        {strings.tokens(total.input_tokens + total.output_tokens)} · {strings.turns(number(total.turns))} · {strings.runs(number(total.runs))}
        {total.cost === null ? "" : ` · ${total.cost.toLocaleString(language(), { style: "currency", currency: "USD" })}`}
      </p>
    </section>
  );
}
