import { useRef } from "react";
import type { ReactNode } from "react";

import { Button } from "./Button";

interface FilePickerProps {
  /** Takes what was chosen, at least one file. */
  onChoose: (files: File[]) => void;
  multiple?: boolean;
  /** The endings of the files that can be chosen, as an `accept` attribute; all kinds if it is left out. */
  accept?: string;
  icon?: ReactNode;
  look?: "primary" | "quiet";
  /** The name of a button that shows its icon alone. */
  label?: string;
  children?: ReactNode;
}

/** A button that lets the user choose files of this machine; the same file can be chosen again. */
export function FilePicker({ onChoose, multiple = false, accept, icon, look = "quiet", label, children }: FilePickerProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        multiple={multiple}
        accept={accept}
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          event.target.value = ""; // or a second choice of the same file would be no change
          if (files.length > 0) onChoose(files);
        }}
      />
      <Button look={look} icon={icon} {...(label === undefined ? {} : { label })} onClick={() => input.current?.click()}>
        {children}
      </Button>
    </>
  );
}
