import { useId, useRef } from "react";
import type { KeyboardEvent, ReactNode } from "react";

interface TabsProps {
  label: string;
  tabs: { id: string; title: string; content: ReactNode }[];
  chosen: string;
  onChoose: (id: string) => void;
}

/** Tabs: arrows move between them, and the chosen one alone is in the order of the Tab key. */
export function Tabs({ label, tabs, chosen, onChoose }: TabsProps) {
  const base = useId();
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const at = tabs.findIndex((tab) => tab.id === chosen);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChoose(next.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  const shown = tabs.find((tab) => tab.id === chosen);
  return (
    <>
      <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${base}-${tab.id}`}
            data-tab={tab.id}
            aria-selected={tab.id === chosen}
            aria-controls={`${base}-panel`}
            tabIndex={tab.id === chosen ? 0 : -1}
            onClick={() => onChoose(tab.id)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div className="tab-panel" role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${chosen}`}>
        {shown?.content}
      </div>
    </>
  );
}
