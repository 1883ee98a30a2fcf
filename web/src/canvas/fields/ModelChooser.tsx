import { useEffect, useState } from "react";

import type { Schemas } from "../../api/contract";
import { request } from "../../api/http";
import { labelOf } from "../../flow/document";
import { summaryOf } from "../../flow/kinds";
import { useApp } from "../../state/app";
import { strings } from "../../strings";
import { Saved } from "./FieldDialog";
import type { EditorProps } from "./FieldDialog";
import { fieldChange } from "./change";

type Provider = Schemas["ProviderEntry"];

/** The models that the server knows, those of providers with a key first; or the assistant's own. */
export function ModelChooser({ node, field, onClose }: EditorProps) {
  const fail = useApp((app) => app.fail);
  const [providers, setProviders] = useState<Provider[]>([]);
  const [query, setQuery] = useState("");
  const now = summaryOf(field.value);
  const [chosen, setChosen] = useState<string | null>(null);
  useEffect(() => {
    request<{ providers: Provider[] }>("GET", "/api/v1/providers").then((page) => setProviders(page.providers), fail);
  }, [fail]);
  const wanted = query.trim().toLowerCase();
  const groups = [...providers]
    .sort((one, other) => Number(other.available) - Number(one.available))
    .map((one) => ({ ...one, models: one.models.filter((model) => `${one.display_name} ${model}`.toLowerCase().includes(wanted)) }))
    .filter((one) => one.models.length > 0);
  const radio = (value: string, label: string) => (
    <label key={value}>
      <input type="radio" name="model" checked={(chosen ?? now) === value || (chosen === null && now === label)} onChange={() => setChosen(value)} />
      {label}
    </label>
  );
  return (
    <Saved
      onClose={onClose}
      onSave={() => {
        if (chosen !== null) fieldChange(node, field, "dialog").now(chosen);
      }}
    >
      <input type="search" aria-label={strings.search} placeholder={strings.search} value={query} onChange={(event) => setQuery(event.target.value)} />
      <fieldset className="boxes tall">
        <legend className="hidden">{labelOf(field)}</legend>
        {radio("", strings.assistantModel)}
        {now !== "" && !now.startsWith("connect_") && radio(now, now)}
        {groups.map((one) => (
          <div key={one.name} role="group" aria-label={one.display_name}>
            <strong>{one.display_name}</strong>
            {!one.available && <small> {strings.needs(one.needs.map((set) => set.join(" + ")).join(", "))}</small>}
            {one.models.map((model) => radio(`${one.name}:${model}`, model))}
          </div>
        ))}
        {wanted !== "" && groups.length === 0 && radio(query.trim(), query.trim())}
      </fieldset>
    </Saved>
  );
}
