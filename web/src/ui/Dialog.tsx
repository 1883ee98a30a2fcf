import { X } from "lucide-react";
import { useEffect, useRef } from "react";
import type { ReactNode } from "react";

import { strings } from "../strings";
import { Button } from "./Button";
import { returning } from "./returning";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** A modal dialog: focus stays in it, Escape closes it, and focus returns to where it was. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const back = returning();
    dialog.current?.showModal();
    dialog.current?.querySelector<HTMLElement>("[data-first]")?.focus();
    return back;
  }, []);
  return (
    <dialog ref={dialog} className="dialog" aria-label={title} onClose={onClose}>
      <div className="dialog-head">
        <h2>{title}</h2>
        <Button label={strings.close} icon={<X size={16} />} onClick={() => dialog.current?.close()} />
      </div>
      {children}
    </dialog>
  );
}
