import { useState } from "react";

import { fieldsOf, idOf, labelOf, nodesOf, titleOf } from "../../flow/document";
import type { Field } from "../../flow/document";
import { kindOf, summaryOf } from "../../flow/kinds";
import type { Edited } from "../../state/canvas";
import { useFlow } from "../../state/flow";
import { strings } from "../../strings";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { CodeEditor } from "./CodeEditor";
import { FileChooser } from "./FileChooser";
import { ModelChooser } from "./ModelChooser";
import { TableEditor } from "./TableEditor";
import { fieldChange } from "./change";

/** The editor of a field that needs more room than its node has. */
export default function FieldDialog({ edited, onClose }: { edited: Edited; onClose: () => void }) {
  const node = useFlow((state) => nodesOf(state.history.present).find((one) => idOf(one) === edited.node));
  const field = node === undefined ? undefined : fieldsOf(node, true).find((one) => one.name === edited.field);
  if (node === undefined || field === undefined) return null;
  return (
    <Dialog title={`${titleOf(node)}: ${labelOf(field)}`} onClose={onClose}>
      <Editor node={edited.node} field={field} onClose={onClose} />
    </Dialog>
  );
}

export interface EditorProps {
  node: string;
  field: Field;
  onClose: () => void;
}

/** The name of the field that holds a component's own source. */
const SOURCE = "code";

function Editor(props: EditorProps) {
  if (props.field.name === SOURCE) return <Source {...props} />;
  switch (kindOf(props.field)) {
    case "table":
      return <TableEditor {...props} />;
    case "pairs":
      return <TableEditor {...props} isPairs />;
    case "file":
      return <FileChooser {...props} />;
    case "model":
      return <ModelChooser {...props} />;
    case "json":
      return <JsonEditor {...props} />;
    default:
      return <TextEditor {...props} />;
  }
}

/** What a component is made of, to be read: a component whose source was changed here would not be run. */
function Source({ field, onClose }: EditorProps) {
  return (
    <div className="editor">
      <CodeEditor label={labelOf(field)} text={typeof field.value === "string" ? field.value : ""} isCode />
      <div className="row end">
        <Button onClick={onClose}>{strings.close}</Button>
      </div>
    </div>
  );
}

function TextEditor({ node, field, onClose }: EditorProps) {
  const [text, setText] = useState(typeof field.value === "string" ? field.value : "");
  return (
    <Saved onClose={onClose} onSave={() => fieldChange(node, field, "dialog").now(text)}>
      <CodeEditor label={labelOf(field)} text={text} isCode={kindOf(field) === "code"} onChange={setText} />
    </Saved>
  );
}

function JsonEditor({ node, field, onClose }: EditorProps) {
  const isText = typeof field.value !== "object" || field.value === null;
  const [text, setText] = useState(isText ? (field.value === undefined || field.value === "" || field.value === null ? "{}" : summaryOf(field.value)) : JSON.stringify(field.value, null, 2));
  const problem = problemOf(text);
  return (
    <Saved isSound={problem === null} onClose={onClose} onSave={() => fieldChange(node, field, "dialog").now(JSON.parse(text))}>
      <CodeEditor label={labelOf(field)} text={text} isCode onChange={setText} />
      <p className="error" role="status">
        {problem}
      </p>
    </Saved>
  );
}

function problemOf(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface SavedProps {
  isSound?: boolean;
  onSave: () => void;
  onClose: () => void;
  children: React.ReactNode;
}

/** An editor with its two ways out. */
export function Saved({ isSound = true, onSave, onClose, children }: SavedProps) {
  return (
    <form
      className="editor"
      onSubmit={(event) => {
        event.preventDefault();
        onSave();
        onClose();
      }}
    >
      {children}
      <div className="row end">
        <Button onClick={onClose}>{strings.cancel}</Button>
        <Button type="submit" look="primary" disabled={!isSound}>
          {strings.apply}
        </Button>
      </div>
    </form>
  );
}
