import { X } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { useApp } from "../state/app";
import { strings } from "../strings";
import { Button } from "./Button";
import { returning } from "./returning";

/** How long it stays: a failure takes longer to read, and says what to do. */
const MILLISECONDS = { told: 6_000, failed: 20_000 };

/** What the user should know; it goes by itself, but not while it is pointed at or has the focus. */
export function Notice({ text }: { text: string }) {
  const { isFailure, say } = useApp();
  const [isHeld, setHeld] = useState(false);
  const before = useRef<() => void>(() => undefined);
  const close = () => {
    say(null);
    requestAnimationFrame(before.current);
  };
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => say(null), isFailure ? MILLISECONDS.failed : MILLISECONDS.told);
    return () => clearTimeout(timer);
  }, [isHeld, isFailure, say]);
  return (
    <p
      className="notice"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={(event) => {
        before.current = returning(event.relatedTarget);
        setHeld(true);
      }}
      onBlur={() => setHeld(false)}
    >
      <span>{text}</span>
      <Button label={strings.close} icon={<X size={14} />} onClick={close} />
    </p>
  );
}
