/** How the value of a field is changed by hand: at once, letter by letter, and with what the server makes of it. */

import type { NodeDocument } from "../../api/contract";
import { idOf, nodesOf } from "../../flow/document";
import type { Field } from "../../flow/document";
import { setField } from "../../flow/edit";
import { isDecidedByServer } from "../../flow/kinds";
import { useApp } from "../../state/app";
import { useFlow } from "../../state/flow";

export interface FieldChanging {
  /** Takes a value that is whole, such as a choice: a step of its own. */
  now: (value: unknown) => void;
  /** Takes a value that is being made, letter by letter: one step for all of them. */
  going: (value: unknown) => void;
  /** The value is whole now. */
  settle: () => void;
}

/** The control whose value is being made, and its component before that. */
let going: { id: string; before: NodeDocument | undefined } | null = null;

/** Whether the value of a control is being made: what is wrong with half of it is not told. */
export function isBeingMade(id: string): boolean {
  return going?.id === id;
}

/** Changes of a field.
 * @param id - tells its control apart, so that letters that belong to one word are one step.
 */
export function fieldChange(node: string, field: Field, id: string): FieldChanging {
  const put = (value: unknown, amends: boolean) => {
    const { history, change } = useFlow.getState();
    change(setField(history.present, node, field.name, value), { amends });
  };
  const documentNow = () => nodesOf(useFlow.getState().history.present).find((one) => idOf(one) === node);
  const ask = (value: unknown, before: NodeDocument | undefined) => {
    if (!isDecidedByServer(field)) return;
    const { configure } = useFlow.getState();
    configure(node, { [field.name]: value }, before === undefined ? {} : { before }).catch(useApp.getState().fail);
  };
  return {
    now: (value) => {
      going = null;
      const before = documentNow();
      put(value, false);
      ask(value, before);
    },
    going: (value) => {
      if (going?.id === id) put(value, true);
      else {
        going = { id, before: documentNow() };
        put(value, false);
      }
    },
    settle: () => {
      if (going?.id !== id) return;
      const { before } = going;
      going = null;
      ask(field.value, before);
    },
  };
}
