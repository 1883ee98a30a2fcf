import { useAssistant } from "../../state/assistant";
import { useApp } from "../../state/app";
import { strings } from "../../strings";
import { Button } from "../../ui/Button";
import type { Part } from "../parts";

/** Why a turn ended early: what to do, what it had done, the details, and another try while it is the last. */
export function ErrorCard({ part, isLast }: { part: Extract<Part, { kind: "error" }>; isLast: boolean }) {
  const again = useAssistant((state) => state.again);
  const isBusy = useAssistant((state) => state.turn !== null);
  const fail = useApp((app) => app.fail);
  return (
    <section className="card wrong" aria-label={strings.somethingFailed}>
      <p className="error" role="alert">
        {part.code === "unreachable" ? strings.cannotReach : part.message}
      </p>
      {part.fix !== "" && <p>{part.fix}</p>}
      {part.kept !== null && <Kept text={part.kept} />}
      <details>
        <summary>{strings.details}</summary>
        <code>{[part.code, part.turn].filter(Boolean).join(" · ")}</code>
      </details>
      {isLast && (
        <div className="row">
          <Button disabled={isBusy} onClick={() => void again().catch(fail)}>
            {strings.tryAgain}
          </Button>
        </div>
      )}
    </section>
  );
}

/** What was done before a turn ended early. */
export function Kept({ text }: { text: string | null }) {
  return text === null ? (
    <p>{strings.nothingKept}</p>
  ) : (
    <div className="record">
      <p>{strings.kept}</p>
      <p>{text}</p>
    </div>
  );
}
