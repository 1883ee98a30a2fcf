import { useEffect, useRef, useState } from "react";

import type { ComponentTypeEntry, FlowDocument, WholeComponent } from "../api/contract";
import { request } from "../api/http";
import { nodesOf } from "../flow/document";
import { add } from "../flow/edit";
import type { Point } from "../flow/edit";
import { useApp } from "../state/app";
import { useCanvas } from "../state/canvas";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { Dialog } from "../ui/Dialog";
import { walk } from "../ui/walk";

const WAIT_MILLISECONDS = 150;

/** All component types, searched by what they do. */
export function Palette({ onClose }: { onClose: () => void }) {
  const fail = useApp((app) => app.fail);
  const list = useRef<HTMLUListElement>(null);
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<ComponentTypeEntry[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    const asked = new URLSearchParams({ limit: "50", ...(query === "" ? {} : { q: query }) });
    const timer = setTimeout(() => {
      request<{ components: ComponentTypeEntry[] }>("GET", `/api/v1/components?${asked.toString()}`, { signal: abort.signal }).then(
        (page) => setFound(page.components),
        (error: unknown) => {
          if (!abort.signal.aborted) fail(error);
        },
      );
    }, WAIT_MILLISECONDS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [query, fail]);
  const choose = async (type: string) => {
    const component = await request<WholeComponent>("GET", `/api/v1/components/${encodeURIComponent(type)}`);
    const { history, change } = useFlow.getState();
    const [next, id] = add(history.present, component, freePlace(history.present));
    change(next);
    onClose();
    useCanvas.getState().choose(new Set([id]));
    useCanvas.getState().goTo(id);
  };
  return (
    <Dialog title={strings.addComponent} onClose={onClose}>
      <input
        data-first
        type="search"
        aria-label={strings.search}
        placeholder={strings.search}
        value={query}
        onChange={(event) => setQuery(event.target.value)}
        onKeyDown={(event) => {
          const [first] = found;
          if (event.key === "Enter" && first !== undefined) {
            event.preventDefault();
            void choose(first.type).catch(fail);
          } else if (event.key === "ArrowDown") {
            event.preventDefault();
            list.current?.querySelector("button")?.focus();
          }
        }}
      />
      <ul className="choices" ref={list} onKeyDown={walk}>
        {found.map((entry) => (
          <li key={entry.type}>
            <button type="button" onClick={() => void choose(entry.type).catch(fail)}>
              <strong>{entry.display_name}</strong> {entry.description}
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** A place at the right of the flow, in the height of its last component. */
export function freePlace(flow: FlowDocument): Point {
  const places = nodesOf(flow).map((node) => ({ x: node.position?.["x"] ?? 0, y: node.position?.["y"] ?? 0 }));
  const [last] = [...places].sort((one, other) => other.x - one.x);
  return last === undefined ? { x: 0, y: 0 } : { x: last.x + 360, y: last.y };
}
