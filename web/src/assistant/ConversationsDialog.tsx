import { Trash2 } from "lucide-react";
import { useCallback, useEffect, useState } from "react";

import type { Conversation } from "../api/contract";
import { request, send } from "../api/http";
import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { useFlow } from "../state/flow";
import { kept } from "../state/kept";
import { language, strings } from "../strings";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { confirmedDeletion } from "../ui/confirmed";

/** The conversations about this flow, last changed first. */
export function ConversationsDialog({ onClose }: { onClose: () => void }) {
  const fail = useApp((app) => app.fail);
  const flow = useFlow((state) => state.id);
  const { open, session, startNew } = useAssistant();
  const [found, setFound] = useState<Conversation[] | null>(null);
  const load = useCallback(() => {
    const asked = new URLSearchParams({ limit: "50", ...(flow === null ? {} : { flow }) });
    request<{ conversations: Conversation[] }>("GET", `/api/v1/conversations?${asked.toString()}`).then(
      (page) => setFound(page.conversations),
      fail,
    );
  }, [flow, fail]);
  useEffect(load, [load]);
  const choose = (id: string) => {
    if (flow !== null) kept.keepSession(flow, id);
    kept.begin(id);
    open(id).catch(fail);
    onClose();
  };
  const remove = async ({ id, title }: Conversation) => {
    if (!confirmedDeletion(title)) return;
    await send("DELETE", `/api/v1/conversations/${encodeURIComponent(id)}`);
    if (id === session) startNew();
    load();
  };
  return (
    <Dialog title={strings.conversations} onClose={onClose}>
      {found?.length === 0 && <p className="hint">{strings.noConversations}</p>}
      <ul className="choices">
        {found?.map((one) => (
          <li key={one.id} className="row">
            <button type="button" className="grow" aria-current={one.id === session} onClick={() => choose(one.id)}>
              <strong dir="auto">{one.title}</strong>
              <br />
              <small>
                <bdi>{one.preview}</bdi> · {new Date(one.updated_at).toLocaleString(language(), { dateStyle: "medium", timeStyle: "short" })}
              </small>
            </button>
            <Button look="danger" label={`${strings.delete}: ${one.title}`} icon={<Trash2 size={16} />} onClick={() => void remove(one).catch(fail)} />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
