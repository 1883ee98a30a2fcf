import { memo } from "react";

import { useFlow } from "../state/flow";
import { language, strings } from "../strings";
import { Markdown } from "../ui/Markdown";
import { ProposalCard } from "./ProposalCard";
import { QuestionCard } from "./QuestionCard";
import type { Message, Part } from "./parts";

/** One message of the conversation, part by part. */
export const MessageItem = memo(function MessageItem({ message }: { message: Message }) {
  const figures = [
    message.usage === null ? "" : strings.tokens(message.usage.total_tokens),
    message.seconds === null ? "" : strings.seconds(message.seconds),
    message.usage?.cost === undefined ? "" : money(message.usage.cost),
    message.model ?? "",
  ].filter(Boolean);
  return (
    <article className={`message ${message.role}`}>
      {message.parts.map((part, at) => (
        <PartItem key={`${part.kind}-${at}`} part={part} isUser={message.role === "user"} />
      ))}
      {message.files.length > 0 && (
        <ul className="chips">
          {message.files.map((path) => (
            <li key={path}>{path}</li>
          ))}
        </ul>
      )}
      {message.status !== null && <p className="status">{message.status}</p>}
      {figures.length > 0 && <small className="figures">{figures.join(" · ")}</small>}
    </article>
  );
});

function PartItem({ part, isUser }: { part: Part; isUser: boolean }) {
  switch (part.kind) {
    case "text":
      return isUser ? <p className="said">{part.text}</p> : <Markdown text={part.text} />;
    case "reasoning":
      return (
        <details>
          <summary>{strings.reasoning}</summary>
          <Markdown text={part.text} />
        </details>
      );
    case "tool":
      return (
        <details className={`tool ${part.failed ? "failed" : ""}`}>
          <summary>
            {part.name.replaceAll("_", " ")} {part.result === null ? "…" : part.failed ? strings.failed : ""}
          </summary>
          <pre tabIndex={0} aria-label={strings.input}>
            {JSON.stringify(part.arguments, null, 2)}
          </pre>
          {part.result !== null && (
            <pre tabIndex={0} aria-label={strings.output}>
              {part.result}
            </pre>
          )}
        </details>
      );
    case "todos":
      return (
        <ul className="todos">
          {part.todos.map((todo) => (
            <li key={todo.content} data-status={todo.status}>
              {todo.content}
            </li>
          ))}
        </ul>
      );
    case "changes":
      return (
        <ul className="changes">
          {part.rows.map((row) => (
            <li key={row.key} onPointerEnter={() => useFlow.getState().point(row.node)} onPointerLeave={() => useFlow.getState().point(null)}>
              {row.text}
            </li>
          ))}
        </ul>
      );
    case "file":
      return (
        <div className="file">
          <a href={`/api/v1/files/${part.path.split("/").map(encodeURIComponent).join("/")}`} download>
            {part.path}
          </a>{" "}
          <small>{part.size.toLocaleString(language())} B</small>
          {part.content !== "" && (
            <details>
              <summary>{strings.open}</summary>
              <pre tabIndex={0} aria-label={part.path}>
                {part.content}
              </pre>
            </details>
          )}
        </div>
      );
    case "proposal":
      return <ProposalCard part={part} />;
    case "question":
      return <QuestionCard question={part.question} state={part.state} />;
    case "run":
      return (
        <div className="card run" role="group" aria-label={strings.run}>
          <h2>{strings.run}</h2>
          {part.error === null ? <Markdown text={part.output ?? ""} /> : <p className="error">{part.error}</p>}
          {part.seconds !== null && <small className="figures">{strings.seconds(part.seconds)}</small>}
        </div>
      );
    case "record":
      return (
        <div className="record" role="note" aria-label={strings.record}>
          <Markdown text={part.text} />
        </div>
      );
    case "notice":
      return <p className="notice-line">{part.text}</p>;
    case "error":
      return (
        <p className="error" role="alert">
          {part.code === "unreachable" ? strings.cannotReach : part.message} {part.fix}
        </p>
      );
  }
}

function money(cost: number): string {
  return cost.toLocaleString(language(), { style: "currency", currency: "USD", maximumSignificantDigits: 2 });
}
