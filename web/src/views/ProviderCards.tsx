import { useCallback, useEffect, useState } from "react";

import type { Schemas } from "../api/contract";
import { request, send } from "../api/http";
import { useApp } from "../state/app";
import { strings } from "../strings";
import { Button } from "../ui/Button";

type Provider = Schemas["ProviderEntry"];
type Status = Schemas["ProviderStatus"];
type Test = Schemas["ModelTest"];

interface ProviderCardsProps {
  /** The only one to show. */
  only?: string;
  onChanged?: () => void;
}

/** The providers of models: which there are, a key for each, and whether they answer. */
export function ProviderCards({ only = "", onChanged }: ProviderCardsProps) {
  const { fail, load: loadConfig } = useApp();
  const [found, setFound] = useState<Provider[] | null>(null);
  const [overview, setOverview] = useState<Schemas["Overview"] | null>(null);
  const load = useCallback(
    () =>
      Promise.all([
        request<{ providers: Provider[] }>("GET", "/api/v1/providers"),
        request<Schemas["Overview"]>("GET", "/api/v1/models"),
      ]).then(([page, models]) => {
        setFound(page.providers);
        setOverview(models);
      }),
    [],
  );
  useEffect(() => {
    load().catch(fail);
  }, [load, fail]);
  const changed = async () => {
    await Promise.all([load(), loadConfig()]);
    onChanged?.();
  };
  if (found === null) return <p role="status">{strings.loading}</p>;
  const shown = found.filter((one) => only === "" || one.name === only);
  return (
    <>
      {overview !== null && (
        <p>
          {strings.defaultModel}: <strong>{overview.default === null || overview.default === "demo" ? strings.demo : overview.default}</strong>{" "}
          <span className="hint">{overview.error?.message ?? strings.defaultHint}</span>
        </p>
      )}
      <ul className="cards">
        {[...shown].sort((one, other) => Number(other.available) - Number(one.available)).map((one) => (
          <ProviderCard
            key={one.name}
            provider={one}
            status={overview?.providers.find((status) => status.name === one.name)}
            onChanged={changed}
          />
        ))}
      </ul>
    </>
  );
}

function ProviderCard({ provider, status, onChanged }: { provider: Provider; status: Status | undefined; onChanged: () => Promise<void> }) {
  const fail = useApp((app) => app.fail);
  const [test, setTest] = useState<Test | "running" | null>(null);
  const name = encodeURIComponent(provider.name);
  const tried = async () => {
    setTest("running");
    try {
      const { models } = await request<{ models: Test[] }>("POST", "/api/v1/models/test", { json: { models: [provider.name] } });
      setTest(models[0] ?? null);
    } catch (error) {
      setTest(null);
      throw error;
    }
  };
  return (
    <li className="card">
      <div className="row">
        <strong className="grow">{provider.display_name}</strong>
        {status?.default === true && <span className="badge">{strings.isDefault}</span>}
        <span className={`badge ${provider.available ? "good" : ""}`}>{provider.available ? strings.available : strings.notReady}</span>
      </div>
      {!provider.available && <small>{strings.needs(provider.needs.map((set) => set.join(" + ")).join(", "))}</small>}
      <KeyForm provider={provider} onChanged={onChanged} />
      <div className="row">
        {provider.available && (
          <Button disabled={test === "running"} onClick={() => void tried().catch(fail)} aria-label={`${strings.test}: ${provider.display_name}`}>
            {strings.test}
          </Button>
        )}
        {provider.stored && (
          <Button
            look="danger"
            aria-label={`${strings.removeKey}: ${provider.display_name}`}
            onClick={() => void send("DELETE", `/api/v1/providers/${name}`).then(onChanged).catch(fail)}
          >
            {strings.removeKey}
          </Button>
        )}
      </div>
      <p role="status" className={test !== null && test !== "running" && !test.ok ? "error" : "hint"}>
        {test === null ? "" : test === "running" ? strings.testing : test.ok ? strings.answers(test.answered_by ?? test.model) : (test.error?.message ?? strings.failed)}
      </p>
    </li>
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
            type={/KEY|SECRET|TOKEN/.test(name) ? "password" : "text"}
            autoComplete="off"
            value={values[name] ?? ""}
            onChange={(event) => setValues({ ...values, [name]: event.target.value })}
          />
        </label>
      ))}
      <Button type="submit" disabled={Object.keys(given).length === 0} aria-label={`${strings.save}: ${provider.display_name}`}>
        {strings.save}
      </Button>
    </form>
  );
}
