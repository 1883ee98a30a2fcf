import { Maximize2 } from "lucide-react";
import { useId } from "react";

import type { Fault } from "../api/contract";
import type { FieldChange } from "../flow/difference";
import { labelOf } from "../flow/document";
import type { Field } from "../flow/document";
import { kindOf, summaryOf } from "../flow/kinds";
import type { Kind } from "../flow/kinds";
import { useCanvas } from "../state/canvas";
import { strings } from "../strings";
import { shortened } from "../ui/shortened";
import { Choice, Choices, Duration, NumberInput, Opened, Slider, TextInput, TextList, Toggle } from "./fields/controls";
import { fieldChange, isBeingMade } from "./fields/change";

export { summaryOf };

interface FieldInputProps {
  node: string;
  field: Field;
  isConnected: boolean;
  /** What waits to be changed in it. */
  changes: readonly FieldChange[];
  /** What is wrong with its value. */
  fault: Fault | undefined;
}

/** Kinds whose values have an editor of their own, beside or instead of what stands in the node. */
const EDITORS: ReadonlySet<Kind> = new Set(["long", "prompt", "code", "table", "file", "model", "pairs", "json"]);

/** Kinds that are a group of controls, or a button, which a `label` element cannot name. */
const NAMED_BY_ITSELF: ReadonlySet<Kind> = new Set(["choices", "list", "duration", "code", "table", "file", "model", "pairs", "json", "read"]);

/** A field of a node, to be read and changed in its place. */
export function FieldInput({ node, field, isConnected, changes, fault }: FieldInputProps) {
  const id = useId();
  const refused = fault === undefined || isBeingMade(id) ? undefined : [fault.message.replace(`${node}.${field.name}: `, ""), fault.fix].filter(Boolean).join(" ");
  const kind = kindOf(field);
  const label = labelOf(field);
  const isShown = !isConnected && kind !== "port";
  const hasEditor = isShown && (kind === "long" || kind === "prompt");
  return (
    <div className="field nodrag" data-kind={kind} data-file-field={kind === "file" && isShown ? field.name : undefined}>
      <div className="field-head">
        {isShown && !NAMED_BY_ITSELF.has(kind) ? (
          <label id={`${id}-name`} htmlFor={id} title={field.info}>
            {label}
            <Required field={field} />
          </label>
        ) : (
          <span id={`${id}-name`} title={field.info}>
            {label}
            <Required field={field} />
          </span>
        )}
        {hasEditor && (
          <button
            type="button"
            className="tiny"
            aria-label={strings.openEditor}
            aria-describedby={`${id}-name`}
            title={strings.openEditor}
            onClick={() => useCanvas.getState().edit({ node, field: field.name })}
          >
            <Maximize2 size={12} aria-hidden="true" />
          </button>
        )}
      </div>
      {isShown && <Control id={id} node={node} field={field} kind={kind} label={label} isInvalid={refused !== undefined} />}
      {changes.map((one, at) => (
        <div className="waits" key={at}>
          <del>{shown(one.before)}</del>
          <ins>{shown(one.after)}</ins>
        </div>
      ))}
      {refused !== undefined && (
        <p className="refusal" id={`${id}-why`} role="alert">
          {refused}
        </p>
      )}
    </div>
  );
}

function Required({ field }: { field: Field }) {
  return field.required === true ? (
    <span className="required" title={strings.required}>
      {" "}
      *
    </span>
  ) : null;
}

interface ControlProps {
  id: string;
  node: string;
  field: Field;
  kind: Kind;
  label: string;
  isInvalid: boolean;
}

function Control({ id, node, field, kind, label, isInvalid }: ControlProps) {
  const change = fieldChange(node, field, id);
  const given = { id, field, change, label, describedBy: isInvalid ? `${id}-why` : undefined };
  switch (kind) {
    case "text":
    case "long":
    case "secret":
    case "prompt":
      return <TextInput {...given} kind={kind} />;
    case "number":
      return <NumberInput {...given} />;
    case "slider":
      return <Slider {...given} />;
    case "toggle":
      return <Toggle {...given} />;
    case "choice":
      return <Choice {...given} />;
    case "choices":
      return <Choices {...given} />;
    case "list":
      return <TextList {...given} />;
    case "duration":
      return <Duration {...given} />;
    case "read":
      return <output aria-labelledby={`${id}-name`}>{shown(field.value)}</output>;
    default:
      return EDITORS.has(kind) ? <Opened node={node} field={field} kind={kind} label={label} /> : null;
  }
}

const SHORT = 140;

function shown(value: unknown): string {
  const text = summaryOf(value);
  return text === "" ? strings.empty : shortened(text, SHORT);
}
