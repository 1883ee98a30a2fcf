import { useEffect, useRef } from "react";

interface SuggestionsProps {
  id: string;
  label: string;
  items: { key: string; text: string; detail?: string }[];
  active: number;
  onChoose: (at: number) => void;
}

/** The list under the message field; the field keeps the focus and says which item is active. */
export function Suggestions({ id, label, items, active, onChoose }: SuggestionsProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);
  return (
    <ul ref={list} className="suggestions" role="listbox" id={id} aria-label={label}>
      {items.map((item, at) => (
        // The keyboard chooses in the field itself.
        <li
          key={item.key}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === active}
          onPointerDown={(event) => {
            event.preventDefault();
            onChoose(at);
          }}
        >
          <bdi>{item.text}</bdi> {item.detail !== undefined && <small>{item.detail}</small>}
        </li>
      ))}
    </ul>
  );
}
