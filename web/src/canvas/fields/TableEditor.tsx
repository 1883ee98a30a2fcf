import { Plus, X } from "lucide-react";
import { useState } from "react";

import { labelOf } from "../../flow/document";
import { columnsOf, rowsOf } from "../../flow/kinds";
import type { Column } from "../../flow/kinds";
import { strings } from "../../strings";
import { Button } from "../../ui/Button";
import { Saved } from "./FieldDialog";
import type { EditorProps } from "./FieldDialog";
import { fieldChange } from "./change";

type Row = Record<string, unknown>;

/** A table of values with the columns of its field; or names with their values. */
export function TableEditor({ node, field, onClose, isPairs = false }: EditorProps & { isPairs?: boolean }) {
  const columns = isPairs ? pairColumns() : columnsOf(field);
  const [rows, setRows] = useState<Row[]>(() => (isPairs ? pairsOf(field.value) : rowsOf(field.value)));
  const set = (at: number, name: string, value: unknown) => setRows(rows.map((row, index) => (index === at ? { ...row, [name]: value } : row)));
  const fresh = (): Row => Object.fromEntries(columns.map((column) => [column.name, column.initial ?? (column.type === "boolean" ? false : "")]));
  const save = () => {
    const named = rows.filter((row) => row["name"] !== "");
    const value = isPairs ? Object.fromEntries(named.map((row) => [String(row["name"]), row["value"]])) : rows;
    fieldChange(node, field, "dialog").now(value);
  };
  return (
    <Saved onSave={save} onClose={onClose}>
      <div className="scroll-x">
        <table className="grid-field" aria-label={labelOf(field)}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.name} scope="col">
                  {column.label}
                </th>
              ))}
              <th scope="col">
                <span className="hidden">{strings.remove}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at}>
                {columns.map((column) => (
                  <td key={column.name}>
                    <Cell column={column} label={`${column.label} ${at + 1}`} value={row[column.name]} onChange={(value) => set(at, column.name, value)} />
                  </td>
                ))}
                <td>
                  <Button label={strings.removeEntry(labelOf(field), at + 1)} icon={<X size={14} />} onClick={() => setRows(rows.filter((_, index) => index !== at))} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && <p className="hint">{strings.empty}</p>}
      <div className="row">
        <Button icon={<Plus size={14} />} onClick={() => setRows([...rows, fresh()])}>
          {strings.addRow}
        </Button>
      </div>
    </Saved>
  );
}

function Cell({ column, label, value, onChange }: { column: Column; label: string; value: unknown; onChange: (value: unknown) => void }) {
  if (column.type === "boolean" || column.type === "bool") {
    return <input type="checkbox" aria-label={label} checked={value === true || value === "True"} onChange={(event) => onChange(event.target.checked)} />;
  }
  const text = typeof value === "object" && value !== null ? JSON.stringify(value) : String((value as string | number | undefined) ?? "");
  if (column.options.length > 0) {
    return (
      <select aria-label={label} value={text} onChange={(event) => onChange(event.target.value)}>
        {!column.options.includes(text) && <option value={text}>{text}</option>}
        {column.options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    );
  }
  const isNumber = ["int", "integer", "float", "number"].includes(column.type);
  return (
    <input
      type={isNumber ? "number" : "text"}
      step="any"
      aria-label={label}
      value={text}
      onChange={(event) => onChange(isNumber && event.target.value !== "" ? event.target.valueAsNumber : event.target.value)}
    />
  );
}

function pairColumns(): Column[] {
  const column = (name: string, label: string): Column => ({ name, label, type: "str", options: [], initial: "" });
  return [column("name", strings.name), column("value", strings.value)];
}

function pairsOf(value: unknown): Row[] {
  const pairs = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return pairs.map(([name, one]) => ({ name, value: one as unknown }));
}
