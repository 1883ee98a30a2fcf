import { Trash2 } from "lucide-react";
import { useCallback, useEffect, useState } from "react";

import type { Schemas } from "../api/contract";
import { request, send } from "../api/http";
import { useApp } from "../state/app";
import { useRun } from "../state/run";
import { language, strings } from "../strings";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { confirmedDeletion } from "../ui/confirmed";

/** The sessions in which the flow was tried, last used first. */
export function SessionsDialog({ onClose }: { onClose: () => void }) {
  const fail = useApp((app) => app.fail);
  const { flow, session, choose, startNew } = useRun();
  const [found, setFound] = useState<Schemas["SessionEntry"][] | null>(null);
  const path = `/api/v1/flows/${encodeURIComponent(flow ?? "")}/sessions`;
  const load = useCallback(() => {
    request<{ sessions: Schemas["SessionEntry"][] }>("GET", `${path}?limit=100`).then((page) => setFound(page.sessions), fail);
  }, [path, fail]);
  useEffect(load, [load]);
  const remove = async (id: string, name: string) => {
    if (!confirmedDeletion(name)) return;
    await send("DELETE", `${path}/${encodeURIComponent(id)}`);
    if (id === session) startNew();
    load();
  };
  const when = (at: string) => new Date(at).toLocaleString(language(), { dateStyle: "medium", timeStyle: "short" });
  return (
    <Dialog title={strings.sessions} onClose={onClose}>
      {found?.length === 0 && <p className="hint">{strings.noSessions}</p>}
      <ul className="choices">
        {found?.map((one) => (
          <li key={one.session} className="row">
            <button
              type="button"
              className="grow"
              aria-current={one.session === session}
              onClick={() => {
                choose(one.session).catch(fail);
                onClose();
              }}
            >
              <strong>{when(one.updated_at)}</strong>
              <br />
              <small>{strings.messages(one.messages)}</small>
            </button>
            <Button look="danger" label={`${strings.delete}: ${when(one.updated_at)}`} icon={<Trash2 size={16} />} onClick={() => void remove(one.session, when(one.updated_at)).catch(fail)} />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
