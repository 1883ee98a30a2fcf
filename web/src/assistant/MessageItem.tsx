import { Pencil, RotateCcw } from "lucide-react";
import { memo, useRef, useState } from "react";

import { idOf, named, nodesOf, titleOf } from "../flow/document";
import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { Markdown } from "../ui/Markdown";
import { money } from "../ui/money";
import { focusNext } from "../ui/returning";
import { Pointer } from "./Pointer";
import { Step } from "./Step";
import { ProposalCard } from "./ProposalCard";
import { QuestionCard } from "./QuestionCard";
import { ComponentCard } from "./cards/ComponentCard";
import { ErrorCard, Kept } from "./cards/ErrorCard";
import { FileCard } from "./cards/FileCard";
import { RunCard } from "./cards/RunCard";
import { ToolTrace } from "./cards/ToolTrace";
import type { Change } from "./changes";
import type { Message, Part } from "./parts";

interface MessageItemProps {
  message: Message;
  /** Whether it belongs to the last turn, which can be taken back and sent again. */
  isLast: boolean;
}

/** One message of the conversation, part by part. */
export const MessageItem = memo(function MessageItem({ message, isLast }: MessageItemProps) {
  const [isEditing, setEditing] = useState(false);
  const article = useRef<HTMLElement>(null);
  const leave = () => {
    setEditing(false);
    focusNext(() => article.current?.querySelector("[data-edit]"));
  };
  const isUser = message.role === "user";
  const figures = [
    message.usage === null || message.usage.total_tokens === 0 ? "" : strings.tokens(message.usage.total_tokens),
    message.seconds === null ? "" : strings.seconds(message.seconds),
    message.usage?.cost === undefined ? "" : money(message.usage.cost),
    message.model ?? "",
  ].filter(Boolean);
  return (
    <article ref={article} className={`message ${message.role}`} aria-label={isUser ? strings.you : strings.assistant}>
      {isEditing ? (
        <EditForm text={textOf(message)} onClose={leave} />
      ) : (
        message.parts.map((part, at) => <PartItem key={`${part.kind}-${at}`} part={part} isUser={isUser} isLast={isLast} isRunning={message.isRunning} />)
      )}
      {message.files.length > 0 && (
        <ul className="chips">
          {message.files.map((path) => (
            <li key={path} dir="auto">
              {path}
            </li>
          ))}
        </ul>
      )}
      {message.isRunning && <Step text={message.status ?? (message.parts.at(-1)?.kind === "text" ? strings.answering : strings.working)} since={message.since} />}
      {figures.length > 0 && <small className="figures">{figures.join(" · ")}</small>}
      {isLast && isUser && !isEditing && <Actions onEdit={() => setEditing(true)} />}
    </article>
  );
});

function Actions({ onEdit }: { onEdit: () => void }) {
  const { turn, again } = useAssistant();
  const fail = useApp((app) => app.fail);
  return (
    <div className="row actions">
      <Button disabled={turn !== null} label={strings.editMessage} icon={<Pencil size={14} />} data-edit="" onClick={onEdit} />
      <Button disabled={turn !== null} label={strings.regenerate} icon={<RotateCcw size={14} />} onClick={() => void again().catch(fail)} />
    </div>
  );
}

function EditForm({ text, onClose }: { text: string; onClose: () => void }) {
  const again = useAssistant((state) => state.again);
  const fail = useApp((app) => app.fail);
  const [next, setNext] = useState(text);
  const submit = () => {
    if (next.trim() === "") return;
    onClose();
    again(next.trim()).catch(fail);
  };
  return (
    <form
      className="edit"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
        if (event.key === "Enter" && !event.shiftKey && event.target instanceof HTMLTextAreaElement && !event.nativeEvent.isComposing) {
          event.preventDefault();
          submit();
        }
      }}
    >
      <textarea autoFocus rows={3} aria-label={strings.editMessage} value={next} onChange={(event) => setNext(event.target.value)} />
      <p className="hint">{strings.editHint}</p>
      <div className="row end">
        <Button onClick={onClose}>{strings.cancel}</Button>
        <Button type="submit" look="primary" disabled={next.trim() === ""}>
          {strings.send}
        </Button>
      </div>
    </form>
  );
}

function PartItem({ part, isUser, isLast, isRunning }: { part: Part; isUser: boolean; isLast: boolean; isRunning: boolean }) {
  switch (part.kind) {
    case "text":
      return isUser ? <Said text={part.text} /> : <Markdown text={part.text} />;
    case "remark":
      return (
        <div className="remark">
          <Markdown text={part.text} />
        </div>
      );
    case "reasoning":
      return (
        <details>
          <summary>{strings.reasoning}</summary>
          <Markdown text={part.text} />
        </details>
      );
    case "tool":
      return <ToolTrace part={part} isRunning={isRunning} />;
    case "todos":
      return (
        <ul className="todos" aria-label={strings.todos}>
          {part.todos.map((todo) => (
            <li key={todo.content} data-status={todo.status}>
              {todo.content} <span className="hidden">{strings.todoStates[todo.status]}</span>
            </li>
          ))}
        </ul>
      );
    case "changes":
      return <Changes rows={part.rows} />;
    case "file":
      return <FileCard part={part} />;
    case "component":
      return <ComponentCard part={part} />;
    case "proposal":
      return <ProposalCard part={part} />;
    case "question":
      return <QuestionCard question={part.question} state={part.state} />;
    case "run":
      return <RunCard part={part} />;
    case "record":
      return (
        <div className="record" role="note" aria-label={strings.record}>
          <Markdown text={part.text} />
        </div>
      );
    case "notice":
      return <p className="notice-line">{part.text}</p>;
    case "cancelled":
      return (
        <section className="card stopped" aria-label={strings.stopped}>
          <p>{part.text}</p>
          <Kept text={part.kept} />
        </section>
      );
    case "error":
      return <ErrorCard part={part} isLast={isLast} />;
  }
}

/** The changes of a message, each with the way to what it has changed; components have their names. */
function Changes({ rows }: { rows: Change[] }) {
  const flow = useFlow((state) => state.history.present);
  const told = named(flow);
  return (
    <ul className="changes">
      {rows.map((row) => (
        <li key={row.key}>
          <Pointer node={row.node}>{told(row.text)}</Pointer>
        </li>
      ))}
    </ul>
  );
}

const TOKEN = /'([^'\s.]+)(?:\.([^'\s]+))?'/g;

/** What the user wrote; what it mentions of the canvas is shown by name. */
function Said({ text }: { text: string }) {
  const flow = useFlow((state) => state.history.present);
  const titles = new Map(nodesOf(flow).map((node) => [idOf(node), titleOf(node)]));
  const shown: React.ReactNode[] = [];
  let end = 0;
  for (const found of text.matchAll(TOKEN)) {
    const title = titles.get(found[1] ?? "");
    if (title === undefined) continue;
    shown.push(text.slice(end, found.index));
    shown.push(
      <span key={found.index} className="mention" title={found[0]}>
        <bdi>{title}</bdi>
        {found[2] !== undefined && ` · ${found[2]}`}
      </span>,
    );
    end = found.index + found[0].length;
  }
  return (
    <p className="said">
      {shown}
      {text.slice(end)}
    </p>
  );
}

export function textOf(message: Message): string {
  return message.parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
}
