import { useEffect, useState } from "react";

import type { Revision, Schemas } from "../api/contract";
import { request } from "../api/http";
import { useApp } from "../state/app";
import { useFlow } from "../state/flow";
import { language, strings } from "../strings";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";

/** The versions of the flow: who changed what, and a way back to each. */
export function RevisionsDialog({ onClose }: { onClose: () => void }) {
  const fail = useApp((app) => app.fail);
  const { id, version, compare } = useFlow();
  const [revisions, setRevisions] = useState<Revision[]>([]);
  const [changes, setChanges] = useState<Record<number, string[]>>({});
  const path = `/api/v1/flows/${encodeURIComponent(id ?? "")}`;
  useEffect(() => {
    request<{ revisions: Revision[] }>("GET", `${path}/revisions?limit=100`).then((page) => setRevisions(page.revisions), fail);
  }, [path, fail]);
  const look = (of: number) => {
    request<Schemas["RevisionDiff"]>("GET", `${path}/revisions/${of}/diff`).then(
      (diff) => setChanges((before) => ({ ...before, [of]: diff.changes })),
      fail,
    );
  };
  const restore = async (to: number) => {
    await useFlow.getState().restore(to);
    onClose();
  };
  const show = async (of: number) => {
    await compare(of);
    onClose();
  };
  return (
    <Dialog title={strings.history} onClose={onClose}>
      <ul className="choices">
        {revisions.map((one) => (
          <li key={one.version}>
            <div className="row">
              <details
                className="grow"
                onToggle={(event) => {
                  if (event.currentTarget.open) look(one.version);
                }}
              >
                <summary>
                  {one.version} · {one.author === "assistant" ? strings.assistant : strings.you} ·{" "}
                  {new Date(one.at).toLocaleString(language(), { dateStyle: "medium", timeStyle: "short" })}
                </summary>
                <ul>
                  {(changes[one.version] ?? []).map((change) => (
                    <li key={change}>{change}</li>
                  ))}
                </ul>
              </details>
              {one.version !== version && (
                <>
                <Button label={strings.compareVersion(one.version)} onClick={() => void show(one.version).catch(fail)}>
                  {strings.compare}
                </Button>
                <Button label={`${strings.restore}: ${one.version}`} onClick={() => void restore(one.version).catch(fail)}>
                  {strings.restore}
                </Button>
                </>
              )}
            </div>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
