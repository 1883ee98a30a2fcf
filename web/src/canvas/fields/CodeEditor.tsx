import { useLayoutEffect, useRef, useState } from "react";
import type { KeyboardEvent } from "react";

import { indented } from "../../flow/indent";
import { strings } from "../../strings";

interface CodeEditorProps {
  label: string;
  text: string;
  isCode: boolean;
  /** Left out for a text that is only read. */
  onChange?: (text: string) => void;
}

/** A field for code or a long text: line numbers, and a Tab key that indents until Escape gives it back. */
export function CodeEditor({ label, text, isCode, onChange }: CodeEditorProps) {
  const numbers = useRef<HTMLPreElement>(null);
  const leaves = useRef(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const [placed, setPlaced] = useState<{ start: number; end: number } | null>(null);
  useLayoutEffect(() => {
    if (placed !== null) area.current?.setSelectionRange(placed.start, placed.end); // before the next key, however fast it comes
  }, [placed]);
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (onChange === undefined) return;
    if (event.key === "Escape" && isCode && !leaves.current) {
      leaves.current = true; // the next Tab leaves the field, and the next Escape the dialog
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.key !== "Tab" || !isCode || leaves.current) return;
    event.preventDefault();
    const { value, selectionStart, selectionEnd } = event.currentTarget;
    const after = indented(value, selectionStart, selectionEnd, event.shiftKey);
    onChange(after.text);
    setPlaced(after);
  };
  const lines = text.split("\n").length;
  return (
    <>
      <div className={`code-editor ${isCode ? "code" : ""}`}>
        {isCode && (
          <pre ref={numbers} aria-hidden="true">
            {Array.from({ length: lines }, (_, at) => at + 1).join("\n")}
          </pre>
        )}
        <textarea
          ref={area}
          data-first
          aria-label={label}
          rows={Math.min(24, Math.max(10, lines))}
          wrap={isCode ? "off" : "soft"}
          spellCheck={!isCode}
          value={text}
          onFocus={() => (leaves.current = false)}
          readOnly={onChange === undefined}
          onChange={(event) => onChange?.(event.target.value)}
          onKeyDown={onKeyDown}
          onScroll={(event) => {
            if (numbers.current !== null) numbers.current.scrollTop = event.currentTarget.scrollTop;
          }}
        />
      </div>
      {isCode && onChange !== undefined && <small>{strings.tabHint}</small>}
    </>
  );
}
