import { MessageSquarePlus } from "lucide-react";
import { useEffect, useRef } from "react";

import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { useFlow } from "../state/flow";
import { kept } from "../state/kept";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { Composer } from "./Composer";
import { MessageItem } from "./MessageItem";

/** The conversation with the assistant, and the field to write in. */
export function Panel() {
  const { messages, turn, isConnected, queue, startNew, send } = useAssistant();
  const flow = useFlow((state) => state.id);
  const { config, fail } = useApp();
  const log = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (isAtEnd.current && log.current !== null) log.current.scrollTop = log.current.scrollHeight;
  }, [messages]);
  const begin = () => {
    startNew();
    if (flow !== null) kept.keepSession(flow, useAssistant.getState().session);
  };
  return (
    <aside className="panel" aria-label={strings.assistant}>
      <header>
        <h1>{strings.assistant}</h1>
        {config?.demo === true && <small title={strings.demoHint}>{strings.demo}</small>}
        <Button label={strings.newConversation} icon={<MessageSquarePlus size={16} />} onClick={begin} />
      </header>
      <div
        ref={log}
        className="log"
        role="log"
        aria-busy={turn !== null}
        aria-label={strings.assistant}
        tabIndex={0}
        onScroll={({ currentTarget: at }) => {
          isAtEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < 24;
        }}
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
        {messages.map((one) => (
          <MessageItem key={one.id} message={one} />
        ))}
        {!isConnected && <p className="notice-line">{strings.connectionLost}</p>}
        {queue.length > 0 && <p className="notice-line">{strings.queued(queue.length)}</p>}
      </div>
      <Composer />
    </aside>
  );
}
