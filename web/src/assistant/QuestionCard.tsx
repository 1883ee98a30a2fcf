import { useState } from "react";

import type { Decision, EditQuestion, Question } from "../api/contract";
import { measured } from "../api/measured";
import { summaryOf } from "../canvas/FieldInput";
import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { Markdown } from "../ui/Markdown";
import type { Answer } from "./parts";
import { stateText } from "./states";

/** Something that waits for the user's decision: why it is asked, what it would do, and the answers. */
export function QuestionCard({ question, state }: { question: Question; state: Answer }) {
  const answer = useAssistant((assistant) => assistant.answer);
  const fail = useApp((app) => app.fail);
  const [refinement, setRefinement] = useState<string | null>(null);
  const decide = (decision: Decision) => {
    if (question.kind === "plan" && decision.decision === "deny") measured({ name: "assistant_plan_reset_total" });
    answer(question.id, decision).catch(fail);
  };
  const title = question.kind === "plan" ? strings.plan : question.kind === "edit" ? strings.change : question.title;
  const why = "why" in question ? strings.why[question.why] : undefined;
  return (
    <section className="card question" aria-label={title}>
      <h2>{title}</h2>
      <Body question={question} />
      {why !== undefined && <p className="why">{why}</p>}
      {state !== "open" ? (
        <small>{stateText(state)}</small>
      ) : refinement === null ? (
        <div className="row">
          <Button look="primary" onClick={() => decide({ decision: "approve" })}>
            {question.kind === "plan" || question.kind === "edit" ? strings.approve : strings.allow}
          </Button>
          <Button onClick={() => setRefinement("")}>{strings.change}</Button>
          <Button onClick={() => decide({ decision: "deny" })}>{question.kind === "plan" ? strings.dismiss : strings.deny}</Button>
        </div>
      ) : (
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            decide({ decision: "deny", reason: refinement });
          }}
        >
          <input autoFocus aria-label={strings.change} value={refinement} onChange={(event) => setRefinement(event.target.value)} />
          <Button type="submit" look="primary" disabled={refinement.trim() === ""}>
            {strings.send}
          </Button>
          <Button onClick={() => setRefinement(null)}>{strings.close}</Button>
        </form>
      )}
    </section>
  );
}

function Body({ question }: { question: Question }) {
  switch (question.kind) {
    case "plan":
      return <Markdown text={question.markdown} />;
    case "edit":
      return <Edits question={question} />;
    case "install":
      return (
        <>
          <p>{question.detail}</p>
          <ul>
            {question.packages.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </>
      );
    case "removal":
      return <Listed detail={question.detail} items={question.targets} />;
    case "outbound":
      return <Listed detail={question.detail} items={question.hosts} />;
    default:
      return <p>{question.detail}</p>;
  }
}

function Listed({ detail, items }: { detail: string; items: string[] }) {
  return (
    <>
      <p>{detail}</p>
      <ul>
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </>
  );
}

function Edits({ question }: { question: EditQuestion }) {
  return (
    <>
      {question.description !== "" && <p>{question.description}</p>}
      {[question, ...(question.also ?? [])].map((edit) => (
        <div className="diff" key={`${edit.component_id} ${edit.field}`}>
          <small>
            {edit.component_id} · {edit.field}
          </small>
          <del>{summaryOf(edit.old_value ?? "")}</del>
          <ins>{summaryOf(edit.new_value ?? "")}</ins>
        </div>
      ))}
    </>
  );
}
