import { useRef, useState } from "react";

import type { Decision, EditQuestion, Question } from "../api/contract";
import { measured } from "../api/measured";
import { summaryOf } from "../canvas/FieldInput";
import { idOf, named, nodesOf, titleOf } from "../flow/document";
import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { useFlow } from "../state/flow";
import { language, strings } from "../strings";
import { Button } from "../ui/Button";
import { Markdown } from "../ui/Markdown";
import { focusNext } from "../ui/returning";
import { Pointer } from "./Pointer";
import type { Answer } from "./parts";
import { stateText } from "./states";

/** Something that waits for the user's decision: why it is asked, what it would do, and the answers. */
export function QuestionCard({ question, state }: { question: Question; state: Answer }) {
  const answer = useAssistant((assistant) => assistant.answer);
  const fail = useApp((app) => app.fail);
  const [refinement, setRefinement] = useState<string | null>(null);
  const card = useRef<HTMLElement>(null);
  const leave = () => {
    setRefinement(null);
    focusNext(() => card.current?.querySelector("[data-change]"));
  };
  const decide = (decision: Decision) => {
    if (question.kind === "plan" && decision.decision === "deny") measured({ name: "assistant_plan_reset_total" });
    answer(question.id, decision).catch(fail);
  };
  const isOffer = question.kind === "plan" || question.kind === "edit";
  const flow = useFlow((shown) => shown.history.present);
  const title = question.kind === "plan" ? strings.plan : question.kind === "edit" ? strings.change : named(flow)(question.title) || strings.questions[question.kind].title;
  return (
    <section ref={card} className="card question" aria-label={title} data-kind={question.kind}>
      <h2>{title}</h2>
      <Body question={question} />
      {"along" in question && question.along.length > 0 && <Listed detail={strings.along} items={question.along.map(named(flow))} />}
      {"done" in question && question.done.length > 0 && <Listed detail={strings.alreadyDone} items={question.done.map(named(flow))} />}
      <p className="why">{whyOf(question)}</p>
      {state !== "open" ? (
        <small className="outcome">{stateText(state)}</small>
      ) : refinement === null ? (
        <div className="row">
          {question.kind !== "tool" && (
            <Button look={question.kind === "removal" ? "danger" : "primary"} onClick={() => decide({ decision: "approve" })}>
              {isOffer ? strings.approve : strings.questions[question.kind].allow}
            </Button>
          )}
          <Button data-change="" onClick={() => setRefinement("")}>{strings.change}</Button>
          <Button onClick={() => decide({ decision: "deny" })}>{question.kind === "plan" ? strings.dismiss : strings.deny}</Button>
        </div>
      ) : (
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            decide({ decision: "deny", reason: refinement });
          }}
          onKeyDown={(event) => {
            if (event.key === "Escape") leave();
          }}
        >
          <input
            className="grow"
            autoFocus
            aria-label={strings.change}
            placeholder={strings.changeHint}
            value={refinement}
            onChange={(event) => setRefinement(event.target.value)}
          />
          <Button type="submit" look="primary" disabled={refinement.trim() === ""}>
            {strings.send}
          </Button>
          <Button onClick={leave}>{strings.close}</Button>
        </form>
      )}
    </section>
  );
}

/** Why it is asked: what the server says of this question, and else what holds for its kind. */
function whyOf(question: Question): string {
  const told = "why" in question ? strings.why[question.why] : undefined;
  return [told, strings.questions[question.kind].why].filter(Boolean).join(" ");
}

function Body({ question }: { question: Question }) {
  const told = named(useFlow((flow) => flow.history.present));
  switch (question.kind) {
    case "plan":
      return <Markdown text={question.markdown} />;
    case "edit":
      return <Edits question={question} />;
    case "install": {
      const { size_mb: size } = question;
      const mega = size?.toLocaleString(language(), { style: "unit", unit: "megabyte", maximumFractionDigits: 0 });
      return (
        <>
          <Listed detail={question.detail} items={question.packages} />
          {mega !== undefined && <p>{strings.downloadSize(mega)}</p>}
        </>
      );
    }
    case "removal":
      return <Listed detail={told(question.detail)} items={question.targets.map(told)} />;
    case "outbound":
      return <Listed detail={question.detail} items={question.hosts} />;
    case "secret":
      return (
        <>
          {question.detail !== "" && <p>{question.detail}</p>}
          <p>
            <code>{question.variable}</code> · {strings.secretUses[question.use]}
          </p>
        </>
      );
    case "tool":
      return (
        <>
          {question.detail !== "" && <p>{question.detail}</p>}
          <details>
            <summary>{question.tool_name.replaceAll("_", " ")}</summary>
            <pre tabIndex={0} aria-label={strings.given}>
              {JSON.stringify(question.arguments, null, 2)}
            </pre>
          </details>
        </>
      );
  }
}

function Listed({ detail, items }: { detail: string; items: string[] }) {
  return (
    <>
      {detail !== "" && <p>{detail}</p>}
      {items.length > 0 && (
        <ul className="targets">
          {items.map((item) => (
            <li key={item}>{item}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function Edits({ question }: { question: EditQuestion }) {
  const flow = useFlow((state) => state.history.present);
  const { point } = useFlow.getState();
  const titles = new Map(nodesOf(flow).map((node) => [idOf(node), titleOf(node)]));
  return (
    <>
      {question.description !== "" && <p>{question.description}</p>}
      {[question, ...(question.also ?? [])].map((edit) => (
        <div
          className="diff"
          key={`${edit.component_id} ${edit.field}`}
          onPointerEnter={() => point(edit.component_id)}
          onPointerLeave={() => point(null)}
        >
          <Pointer node={edit.component_id}>
            <bdi>{titles.get(edit.component_id) ?? edit.component_id}</bdi> · {edit.field}
          </Pointer>
          <del>{summaryOf(edit.old_value ?? "")}</del>
          <ins>{summaryOf(edit.new_value ?? "")}</ins>
        </div>
      ))}
    </>
  );
}
