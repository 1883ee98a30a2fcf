import { useCallback, useEffect, useState } from "react";

import type { Schemas } from "../api/contract";
import { request, send } from "../api/http";
import { useApp } from "../state/app";
import { useAssistant } from "../state/assistant";
import { kept } from "../state/kept";
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
  // As they stood when they came: none jumps away from who has just set it up.
  const [order, setOrder] = useState<string[]>([]);
  const [overview, setOverview] = useState<Schemas["Overview"] | null>(null);
  const load = useCallback(
    () =>
      Promise.all([
        request<{ providers: Provider[] }>("GET", "/api/v1/providers"),
        request<Schemas["Overview"]>("GET", "/api/v1/models"),
      ]).then(([page, models]) => {
        setFound(page.providers);
        setOrder((before) => (before.length > 0 ? before : readyFirst(page.providers)));
        setOverview(models);
      }),
    [],
  );
  useEffect(() => {
    load().catch(fail);
  }, [load, fail]);
  const changed = async () => {
    await loadConfig(); // what is offered elsewhere is there once this says so
    await load();
    onChanged?.();
  };
  if (found === null) return <p role="status">{strings.loading}</p>;
  const shown = order.flatMap((name) => found.filter((one) => one.name === name && (only === "" || name === only)));
  return (
    <>
      {overview !== null && (
        <p>
          {strings.defaultModel}: <strong>{overview.default === null || overview.default === "demo" ? strings.demo : overview.default}</strong>{" "}
          <span className="hint">{overview.error?.message ?? strings.defaultHint}</span>
        </p>
      )}
      <ul className="cards">
        {shown.map((one) => (
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

function readyFirst(providers: readonly Provider[]): string[] {
  return [...providers].sort((one, other) => Number(other.available) - Number(one.available)).map((one) => one.name);
}

function ProviderCard({ provider, status, onChanged }: { provider: Provider; status: Status | undefined; onChanged: () => Promise<void> }) {
  const fail = useApp((app) => app.fail);
  const [test, setTest] = useState<Test | "running" | null>(null);
  const name = encodeURIComponent(provider.name);
  const [model, setModel] = useState("");
  const choose = useAssistant((assistant) => assistant.choose);
  const say = useApp((app) => app.say);
  const named = model.trim() === "" ? null : `${provider.name}:${model.trim()}`;
  const tried = async () => {
    setTest("running");
    try {
      const json = { models: [named ?? provider.name] };
      const { models } = await request<{ models: Test[] }>("POST", "/api/v1/models/test", { json });
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
      {!provider.available && <small>{strings.needs(provider.needs.map((set) => set.join(" + ")).join(strings.or))}</small>}
      <Addresses provider={provider} />
      <KeyForm key={savedIn(provider)} provider={provider} onChanged={onChanged} />
      {provider.available && (
        <div className="stack">
          <label>
            <span>{provider.models.length === 0 ? strings.modelName : strings.otherModel}</span>
            <input autoComplete="off" spellCheck={false} value={model} onChange={(event) => setModel(event.target.value)} />
          </label>
        </div>
      )}
      <div className="row">
        {provider.available && (
          <Button disabled={test === "running" || (provider.models.length === 0 && named === null)} onClick={() => void tried().catch(fail)} aria-label={`${strings.test}: ${provider.display_name}`}>
            {strings.test}
          </Button>
        )}
        {named !== null && provider.available && (
          <Button
            aria-label={`${strings.useThis}: ${named}`}
            onClick={() => {
              kept.nameModel(named);
              choose(named);
              say(strings.answersFromNow(named));
            }}
          >
            {strings.useThis}
          </Button>
        )}
        {provider.stored && (
          <Button
            look="danger"
            aria-label={`${strings.removeKey}: ${provider.display_name}`}
            onClick={() => {
              if (window.confirm(strings.removeQuestion(provider.display_name))) void send("DELETE", `/api/v1/providers/${name}`).then(onChanged).catch(fail);
            }}
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

/** The addresses that its models are asked at, but for those that stand in their fields; what is not told is the provider's own. */
function Addresses({ provider }: { provider: Provider }) {
  const whole = storedAddresses(provider);
  const known = provider.variables.filter(({ name, address }) => address !== undefined && !(name in whole));
  return known.length === 0 ? null : (
    <dl className="metrics">
      {known.map(({ name, address, source }) => (
        <div key={name}>
          <dt>{source === "stored" ? strings.usesAddress : strings.usesAddressOf(strings.environment)}</dt>
          <dd className="address">
            <bdi>{address}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** What is stored of a provider, so that its form begins anew when that changes. */
function savedIn({ variables }: Provider): string {
  return variables.map(({ source, address }) => `${source ?? ""} ${address ?? ""}`).join("\n");
}

/** The addresses that are stored whole: they are sent again with a new key, because what is sent replaces all that is stored. */
function storedAddresses({ variables }: Provider): Record<string, string> {
  const whole = variables.filter(({ source, address }) => source === "stored" && address !== undefined && !address.includes("…"));
  return Object.fromEntries(whole.map(({ name, address }) => [name, address ?? ""]));
}

function KeyForm({ provider, onChanged }: { provider: Provider; onChanged: () => Promise<void> }) {
  const fail = useApp((app) => app.fail);
  const saved = storedAddresses(provider);
  const [values, setValues] = useState<Record<string, string>>(saved);
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ""));
  const isChanged = Object.keys({ ...saved, ...values }).some((name) => (values[name] ?? "").trim() !== (saved[name] ?? ""));
  const isMoved = Object.keys(saved).some((name) => (values[name] ?? "").trim() !== saved[name]);
  const hasKey = provider.variables.some(({ name, source }) => source === "stored" && isSecret(name));
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        send("PUT", `/api/v1/providers/${encodeURIComponent(provider.name)}`, { json: { values: given } })
          .then(() => {
            setValues(Object.fromEntries(Object.entries(values).filter(([name]) => !isSecret(name))));
            return onChanged();
          })
          .catch(fail);
      }}
    >
      {provider.variables.map(({ name, source }) => (
        <label key={name}>
          <span>{source === null ? name : `${name} (${source === "stored" ? strings.stored : strings.environment})`}</span>
          <input
            type={isSecret(name) ? "password" : "text"}
            autoComplete="off"
            value={values[name] ?? ""}
            onChange={(event) => setValues({ ...values, [name]: event.target.value })}
          />
        </label>
      ))}
      {isMoved && hasKey && <small className="hint">{strings.keyAgain}</small>}
      <Button type="submit" disabled={!isChanged || Object.keys(given).length === 0} aria-label={`${strings.save}: ${provider.display_name}`}>
        {strings.save}
      </Button>
    </form>
  );
}

function isSecret(name: string): boolean {
  return /KEY|SECRET|TOKEN/.test(name);
}
