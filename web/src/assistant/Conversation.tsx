import { History, MessageSquarePlus } from "lucide-react";
import { Suspense, lazy, useState } from "react";

import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { useFlow } from "../state/flow";
import { kept } from "../state/kept";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { Composer } from "./Composer";
import { MessageItem } from "./MessageItem";
import { ModelPicker } from "./ModelPicker";
import { SetupCard } from "./SetupCard";
import { useEnd } from "./useEnd";

const ConversationsDialog = lazy(() => import("./ConversationsDialog").then((loaded) => ({ default: loaded.ConversationsDialog })));

/** The conversation with the assistant, and the field to write in. */
export function Conversation() {
  const { messages, turn, isConnected, queue, startNew, send } = useAssistant();
  const flow = useFlow((state) => state.id);
  const fail = useApp((app) => app.fail);
  const [isChoosing, setChoosing] = useState(false);
  const end = useEnd(messages.filter((one) => one.role === "user").length);
  const last = messages.findLastIndex((one) => one.role === "user");
  const begin = () => {
    startNew();
    if (flow !== null) kept.keepSession(flow, useAssistant.getState().session);
  };
  return (
    <>
      <div className="row bar">
        <ModelPicker />
        <Button label={strings.conversations} icon={<History size={16} />} onClick={() => setChoosing(true)} />
        <Button label={strings.newConversation} icon={<MessageSquarePlus size={16} />} onClick={begin} />
      </div>
      <div
        {...end}
        className="log"
        role="log"
        aria-busy={turn !== null}
        aria-label={strings.assistant}
        tabIndex={0}
      >
        {messages.length === 0 && (
          <div className="hint">
            <p>{strings.emptyConversation}</p>
            {strings.examples.map((example) => (
              <Button key={example} onClick={() => void send(example).catch(fail)}>
                {example}
              </Button>
            ))}
          </div>
        )}
        {messages.map((one, at) => (
          <MessageItem key={one.id} message={one} isLast={at >= last} />
        ))}
        <SetupCard />
        {!isConnected && <p className="notice-line">{strings.connectionLost}</p>}
        {queue.length > 0 && <p className="notice-line">{strings.queued(queue.length)}</p>}
        {kept.isBlocked && <p className="notice-line">{strings.storageBlocked}</p>}
      </div>
      <Composer />
      {isChoosing && (
        <Suspense fallback={null}>
          <ConversationsDialog onClose={() => setChoosing(false)} />
        </Suspense>
      )}
    </>
  );
}
