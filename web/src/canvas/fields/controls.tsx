/** The controls that stand in a node, one for each kind of value. */

import { Plus, X } from "lucide-react";
import { lazy } from "react";

import type { Field } from "../../flow/document";
import { chosenOf, columnsOf, namesOf, rowsOf, storedChoice, summaryOf } from "../../flow/kinds";
import type { Kind } from "../../flow/kinds";
import { useCanvas } from "../../state/canvas";
import { strings } from "../../strings";
import type { FieldChanging } from "./change";

/** The editors, loaded when one is opened. */
export const FieldDialog = lazy(() => import("./FieldDialog"));

interface Given {
  id: string;
  field: Field;
  change: FieldChanging;
  label: string;
  describedBy: string | undefined;
}

export function TextInput({ id, field, change, describedBy, kind }: Given & { kind: "text" | "long" | "secret" | "prompt" }) {
  const value = typeof field.value === "string" || typeof field.value === "number" ? String(field.value) : "";
  const same = {
    id,
    value,
    placeholder: field.placeholder,
    "aria-invalid": describedBy !== undefined,
    "aria-describedby": describedBy,
    onChange: (event: { target: { value: string } }) => change.going(event.target.value),
    onBlur: change.settle,
  };
  if (kind === "secret") return <input type="password" autoComplete="off" {...same} />;
  if (kind === "text") return <input type="text" {...same} />;
  return <textarea rows={Math.min(6, Math.max(2, value.split("\n").length))} {...same} />;
}

export function NumberInput({ id, field, change }: Given) {
  const { min, max, step } = field.range_spec ?? {};
  return (
    <input
      id={id}
      type="number"
      min={min}
      max={max}
      step={field.type === "int" ? 1 : (step ?? "any")}
      value={typeof field.value === "number" ? field.value : ""}
      onChange={(event) => change.going(event.target.value === "" ? null : event.target.valueAsNumber)}
      onBlur={change.settle}
    />
  );
}

export function Slider({ id, field, change }: Given) {
  const { min = 0, max = 1, step = 0.01 } = field.range_spec ?? {};
  const value = typeof field.value === "number" ? field.value : min;
  return (
    <div className="slider">
      <input
        id={id}
        type="range"
        min={min}
        max={max}
        step={step}
        value={value}
        onChange={(event) => change.going(event.target.valueAsNumber)}
        onPointerUp={change.settle}
        onBlur={change.settle}
      />
      <output htmlFor={id}>{value}</output>
    </div>
  );
}

export function Toggle({ id, field, change }: Given) {
  return <input id={id} type="checkbox" role="switch" checked={field.value === true} onChange={(event) => change.now(event.target.checked)} />;
}

export function Choice({ id, field, change }: Given) {
  const options = namesOf(field.options);
  const chosen = chosenOf(field.value)[0] ?? "";
  return (
    <select id={id} value={chosen} onChange={(event) => change.now(storedChoice(field, event.target.value === "" ? [] : [event.target.value]))}>
      {!options.includes(chosen) && <option value={chosen}>{chosen === "" ? strings.chooseOne : chosen}</option>}
      {options.map((option) => (
        <option key={option}>{option}</option>
      ))}
    </select>
  );
}

export function Choices({ id, field, change }: Given) {
  const chosen = chosenOf(field.value);
  const options = [...new Set([...namesOf(field.options), ...chosen])];
  return (
    <details className="choices-field">
      <summary aria-labelledby={`${id}-name ${id}-chosen`}>
        <span id={`${id}-chosen`}>{chosen.length === 0 ? strings.chooseOne : chosen.join(", ")}</span>
      </summary>
      <div role="group" aria-labelledby={`${id}-name`} className="boxes nowheel">
        {options.map((option) => (
          <label key={option}>
            <input
              type="checkbox"
              checked={chosen.includes(option)}
              onChange={(event) =>
                change.now(storedChoice(field, event.target.checked ? [...chosen, option] : chosen.filter((one) => one !== option)))
              }
            />
            {option}
          </label>
        ))}
      </div>
    </details>
  );
}

export function TextList({ id, field, change, label }: Given) {
  const texts = (Array.isArray(field.value) ? field.value : field.value === "" || field.value == null ? [] : [field.value]).map((one) => summaryOf(one));
  const shown = texts.length === 0 ? [""] : texts;
  return (
    <div role="group" aria-labelledby={`${id}-name`} className="list-field">
      {shown.map((text, at) => (
        <div className="row" key={at}>
          <input
            type="text"
            className="grow"
            aria-label={strings.entry(label, at + 1)}
            value={text}
            onChange={(event) => change.going(shown.map((one, index) => (index === at ? event.target.value : one)))}
            onBlur={change.settle}
          />
          <button
            type="button"
            className="tiny"
            aria-label={strings.removeEntry(label, at + 1)}
            title={strings.remove}
            disabled={texts.length === 0}
            onClick={() => change.now(texts.filter((_, index) => index !== at))}
          >
            <X size={12} aria-hidden="true" />
          </button>
        </div>
      ))}
      <button type="button" className="tiny wide" onClick={() => change.now([...shown, ""])}>
        <Plus size={12} aria-hidden="true" /> {strings.addEntry}
      </button>
    </div>
  );
}

export function Duration({ id, field, change, label }: Given) {
  const { unit, value } = (field.value ?? {}) as { unit?: string; value?: number };
  const units = namesOf(field.options);
  return (
    <div role="group" aria-labelledby={`${id}-name`} className="row">
      <input
        type="number"
        min={0}
        className="grow"
        aria-label={label}
        value={value ?? ""}
        onChange={(event) => change.going({ unit: unit ?? units[0], value: event.target.value === "" ? 0 : event.target.valueAsNumber })}
        onBlur={change.settle}
      />
      <select className="grow" aria-label={strings.unit(label)} value={unit ?? units[0]} onChange={(event) => change.now({ unit: event.target.value, value: value ?? 0 })}>
        {units.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </div>
  );
}

/** A value that is edited in a dialog; what it is stands on the button that opens it. */
export function Opened({ node, field, kind, label }: { node: string; field: Field; kind: Kind; label: string }) {
  return (
    <button type="button" className="opened" aria-haspopup="dialog" onClick={() => useCanvas.getState().edit({ node, field: field.name })}>
      <span className="hidden">{label}: </span>
      {toldOf(field, kind)}
    </button>
  );
}

function toldOf(field: Field, kind: Kind): string {
  switch (kind) {
    case "table":
      return strings.rows(rowsOf(field.value).length, columnsOf(field).length);
    case "code":
      return strings.lines(typeof field.value === "string" && field.value !== "" ? field.value.split("\n").length : 0);
    case "file": {
      const files = summaryOf(field.value);
      return files === "" ? strings.chooseFile : files;
    }
    case "model": {
      const model = summaryOf(field.value);
      return model === "" ? strings.assistantModel : model;
    }
    case "pairs": {
      const pairs = Object.entries((field.value === "" ? {} : (field.value ?? {})) as Record<string, string>);
      return pairs.length === 0 ? strings.empty : pairs.map(([name, value]) => `${name}: ${value}`).join(", ");
    }
    default: {
      const told = typeof field.value === "object" ? JSON.stringify(field.value) : summaryOf(field.value);
      return told === "" || told === "{}" || told === "[]" || told === "null" ? strings.empty : told;
    }
  }
}
