import { useState } from "react";

import { applied, measured } from "../../api/measured";
import { REPLACE } from "../../assistant/parts";
import { sizeOf } from "../../flow/difference";
import type { Difference } from "../../flow/difference";
import { idOf, nodesOf } from "../../flow/document";
import { useApp } from "../../state/app";
import { useAssistant } from "../../state/assistant";
import { useCanvas } from "../../state/canvas";
import { useFlow } from "../../state/flow";
import type { Waiting } from "../../state/waiting";
import { strings } from "../../strings";
import { Button } from "../../ui/Button";

/** What waits for the user, with answers whose names say what they do; one by one, or all at once. */
export function WaitingBar({ waiting }: { waiting: Waiting[] }) {
  const count = useFlow((state) => nodesOf(state.history.present).length);
  const { decide } = useFlow.getState();
  const [at, setAt] = useState(0);
  const fail = useApp((app) => app.fail);
  const answer = (ids: string[], decision: "approve" | "deny") => {
    const isProposal = waiting[0]?.kind === "proposal";
    if (isProposal) measured({ name: `assistant_flow_proposal_${decision === "approve" ? "continue" : "dismiss"}_total` });
    const isAccepted = isProposal && decision === "approve";
    const replaces = isAccepted && count > 0;
    const begun = performance.now();
    useAssistant
      .getState()
      .answerAll(ids, replaces ? REPLACE : { decision }, replaces ? "replaced" : undefined)
      .then(() => {
        if (isAccepted) applied(begun, nodesOf(useFlow.getState().history.present).length);
      })
      .catch(fail);
  };
  const shown = waiting[Math.min(at, waiting.length - 1)];
  if (shown === undefined) return null;
  const ids = waiting.flatMap((one) => (one.id === null ? [] : [one.id]));
  const places = placesOf(waiting);
  const walk = (step: number) => {
    const next = (at + step + waiting.length) % waiting.length;
    setAt(next);
    const [place] = placesOf(waiting.slice(next, next + 1));
    if (place !== undefined) useCanvas.getState().goTo(place);
  };
  return (
    <section className="waiting-bar" aria-label={strings.waiting}>
      <p>
        {told(shown)}
        {waiting.length > 1 && <small> {strings.oneOf(Math.min(at, waiting.length - 1) + 1, waiting.length)}</small>}
      </p>
      <div className="row">
        {shown.kind === "version" ? (
          <>
            <Button look="primary" onClick={() => void useFlow.getState().restore(Number(shown.id)).catch(fail)}>
              {strings.restoreVersion(shown.name)}
            </Button>
            <Button onClick={() => void useFlow.getState().compare(null)}>{strings.stopComparing}</Button>
          </>
        ) : shown.kind === "conflict" ? (
          <>
            <Button onClick={() => decide([shown.id ?? ""], "mine")}>{strings.keepMine}</Button>
            <Button onClick={() => decide([shown.id ?? ""], "theirs")}>{strings.takeTheirs}</Button>
            {ids.length > 1 && (
              <>
                <Button onClick={() => walk(1)}>{strings.nextChange}</Button>
                <Button onClick={() => decide(ids, "mine")}>{strings.keepAllMine(ids.length)}</Button>
                <Button onClick={() => decide(ids, "theirs")}>{strings.takeAllTheirs(ids.length)}</Button>
              </>
            )}
          </>
        ) : (
          shown.id !== null && (
            <>
              <Button look="primary" onClick={() => answer([shown.id ?? ""], "approve")}>
                {effect(shown, count)}
              </Button>
              <Button onClick={() => answer([shown.id ?? ""], "deny")}>{strings.keepAsIs}</Button>
              {ids.length > 1 && (
                <>
                  <Button onClick={() => walk(1)}>{strings.nextChange}</Button>
                  <Button look="primary" onClick={() => answer(ids, "approve")}>
                    {strings.acceptAll(ids.length)}
                  </Button>
                  <Button onClick={() => answer(ids, "deny")}>{strings.dismissAll(ids.length)}</Button>
                </>
              )}
            </>
          )
        )}
        {places.length > 0 && ids.length <= 1 && <Button onClick={() => useCanvas.getState().goTo(places[0] ?? "")}>{strings.showChange}</Button>}
      </div>
    </section>
  );
}

function told({ kind, name, difference }: Waiting): string {
  const counts = strings.differs(difference.added.length, difference.removed.size, difference.changed.size);
  if (kind === "version") return `${strings.comparedWith(name)} ${sizeOf(difference) === 0 ? strings.noDifference : counts}`;
  if (kind === "proposal") return `${strings.proposal(name)}. ${counts}`;
  if (kind === "conflict") return strings.changedByBoth(name, labelsOf(difference));
  return kind === "removal" ? name : strings.editWaits(name, labelsOf(difference));
}

/** The fields that change; the title and the description of a component go by no name of a field. */
function labelsOf({ changed }: Difference): string {
  const labels = [...changed.values()].flat().map((one) => (one.label === "" ? strings.name : one.label));
  return [...new Set(labels)].join(", ");
}

/** What accepting does, in the words of the button. */
function effect({ kind, difference }: Waiting, count: number): string {
  if (kind === "proposal") return strings.putHere(count, difference.added.length + difference.changed.size);
  if (kind === "removal") return strings.removeNodes(difference.removed.size);
  return strings.acceptChange([...difference.changed.values()].flat().length);
}

function placesOf(waiting: readonly Waiting[]): string[] {
  return waiting.flatMap(({ difference }) => [...difference.changed.keys(), ...difference.removed, ...difference.added.map(idOf)]);
}
