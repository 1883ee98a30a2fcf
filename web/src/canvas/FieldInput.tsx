import { useId } from "react";

import { labelOf } from "../flow/document";
import type { Field } from "../flow/document";

interface FieldInputProps {
  field: Field;
  isConnected: boolean;
  /** Takes a new value; `amends` says that it belongs to the last change, as the next letter of a word does. */
  onChange: (value: unknown, amends: boolean) => void;
}

/** A field of a node, to be read and changed in its place. */
export function FieldInput({ field, isConnected, onChange }: FieldInputProps) {
  const id = useId();
  const control = isConnected ? null : controlOf(field, id, onChange);
  const label = `${labelOf(field)}${field.required === true ? " *" : ""}`;
  return (
    <div className="field nodrag">
      {control === null ? <span title={field.info}>{label}</span> : <label htmlFor={id} title={field.info}>{label}</label>}
      {control}
    </div>
  );
}

let typed: string | null = null;

function controlOf(field: Field, id: string, onChange: FieldInputProps["onChange"]) {
  const { value } = field;
  const text = (next: string) => {
    onChange(next, typed === id);
    typed = id;
  };
  const kind = field.type ?? "str";
  if (Array.isArray(field.options) && field.options.every((option) => typeof option === "string")) {
    const options = field.options;
    const chosen = typeof value === "string" ? value : "";
    return (
      <select id={id} value={chosen} onChange={(event) => onChange(event.target.value, false)}>
        {!options.includes(chosen) && <option value={chosen}>{chosen}</option>}
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    );
  }
  if (kind === "bool") {
    return <input id={id} type="checkbox" role="switch" checked={value === true} onChange={(event) => onChange(event.target.checked, false)} />;
  }
  if (kind === "int" || kind === "float" || kind === "slider") {
    return (
      <input
        id={id}
        type="number"
        step={kind === "int" ? 1 : "any"}
        value={typeof value === "number" ? value : ""}
        onChange={(event) => onChange(event.target.value === "" ? null : event.target.valueAsNumber, false)}
      />
    );
  }
  if (value !== undefined && value !== null && typeof value !== "string") return <output id={id}>{summaryOf(value)}</output>;
  const shown = typeof value === "string" ? value : "";
  if (field.password === true) {
    return (
      <input id={id} type="password" autoComplete="off" value={shown} placeholder={field.placeholder} onChange={(event) => text(event.target.value)} />
    );
  }
  if (field.multiline === true || kind === "prompt" || kind === "code") {
    return (
      <textarea
        id={id}
        rows={Math.min(5, Math.max(2, shown.split("\n").length))}
        className={kind === "code" ? "code" : undefined}
        spellCheck={kind !== "code"}
        value={shown}
        placeholder={field.placeholder}
        onChange={(event) => text(event.target.value)}
        onBlur={() => (typed = null)}
      />
    );
  }
  if (kind !== "str") return null;
  return (
    <input id={id} type="text" value={shown} placeholder={field.placeholder} onChange={(event) => text(event.target.value)} onBlur={() => (typed = null)} />
  );
}

/** A value that has no control of its own, in a few words. */
export function summaryOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(summaryOf).join(", ");
  if (typeof value === "object" && value !== null) {
    const { name, provider } = value as { name?: unknown; provider?: unknown };
    if (typeof name === "string") return typeof provider === "string" ? `${provider}: ${name}` : name;
    return JSON.stringify(value);
  }
  return String(value);
}
