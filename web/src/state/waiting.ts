/** What waits for the user's decision, as differences that a canvas can draw. */

import { useMemo } from "react";

import type { Message } from "../assistant/parts";
import type { EditQuestion, FlowDocument } from "../api/contract";
import { NO_DIFFERENCE, difference, edgeKey, isSame } from "../flow/difference";
import type { Difference, FieldChange } from "../flow/difference";
import { edgesOf, fieldsOf, idOf, labelOf, named, nodesOf, titleOf } from "../flow/document";
import { merge } from "../flow/merge";
import { useAssistant } from "./assistant";
import { useFlow } from "./flow";
import type { Conflict } from "./flow";

export interface Waiting {
  /** The question, or the component that two people have changed; null while the turn that will ask it still runs. */
  id: string | null;
  kind: "proposal" | "edit" | "removal" | "version" | "conflict";
  name: string;
  difference: Difference;
}

/** What waits in a conversation, the oldest first. Of proposals the last waits: those before it can be taken from their cards. */
export function waitingIn(messages: readonly Message[], flow: FlowDocument): Waiting[] {
  const last = messages.flatMap(({ parts }) => parts).findLast((part) => part.kind === "proposal");
  return messages.flatMap((message) =>
    message.parts.flatMap((part): Waiting[] => {
      if (part === last && part.state === "open" && part.flow !== null) {
        return [{ id: part.id, kind: "proposal", name: part.name, difference: difference(flow, part.flow) }];
      }
      if (part.kind !== "question" || part.state !== "open") return [];
      const { question } = part;
      if (question.kind === "edit") return [{ id: question.id, kind: "edit", name: named(flow)(question.component_id), difference: edits(question, flow) }];
      if (question.kind === "removal") return [{ id: question.id, kind: "removal", name: named(flow)(question.title), difference: removals(question.targets, flow) }];
      return [];
    }),
  );
}

/** The components that somebody else has changed too, each with what it would be with their change. */
export function clashing({ base, theirs, decided }: Conflict, mine: FlowDocument): Waiting[] {
  const found = merge(base, mine, theirs, decided);
  const titles = new Map([...nodesOf(theirs), ...nodesOf(mine)].map((node) => [idOf(node), titleOf(node)]));
  return [...found.clashes].flatMap((node): Waiting[] => {
    if (decided.has(node)) return [];
    const other = merge(base, mine, theirs, new Map([...decided, [node, "theirs"]]));
    return [{ id: node, kind: "conflict", name: titles.get(node) ?? "", difference: difference(found.flow, other.flow) }];
  });
}

/** What waits: what somebody else has changed before anything else, and the version that the canvas is compared with. */
export function useWaiting(): Waiting[] {
  const messages = useAssistant((state) => state.messages);
  const flow = useFlow((state) => state.history.present);
  const compared = useFlow((state) => state.compared);
  const conflict = useFlow((state) => state.conflict);
  return useMemo(() => {
    if (conflict !== null) return clashing(conflict, flow);
    if (compared === null) return waitingIn(messages, flow).filter((one) => one.kind === "proposal" || !isSame(one.difference));
    return [{ id: String(compared.version), kind: "version", name: String(compared.version), difference: difference(flow, compared.flow) }];
  }, [messages, flow, compared, conflict]);
}

function edits(question: EditQuestion, flow: FlowDocument): Difference {
  const nodes = new Map(nodesOf(flow).map((node) => [idOf(node), node]));
  const changed = new Map<string, FieldChange[]>();
  for (const { component_id: id, field, old_value: before, new_value: after } of [question, ...(question.also ?? [])]) {
    const node = nodes.get(id);
    if (node === undefined) continue;
    const known = fieldsOf(node).find((one) => one.name === field);
    const change = { field, label: known === undefined ? field : labelOf(known), before, after };
    changed.set(id, [...(changed.get(id) ?? []), change]);
  }
  return { ...NO_DIFFERENCE, changed };
}

/** Targets are ids of components, and connections as a text with both of their ends. */
function removals(targets: readonly string[], flow: FlowDocument): Difference {
  const removed = new Set(nodesOf(flow).map(idOf).filter((id) => targets.includes(id)));
  const goes = ({ source, target }: { source: string; target: string }) =>
    removed.has(source) || removed.has(target) || targets.some((text) => text.includes(`${source}.`) && text.includes(`${target}.`));
  const removedEdges = new Set(edgesOf(flow).filter(goes).map(edgeKey));
  return { ...NO_DIFFERENCE, removed, removedEdges };
}
