/** How the value of a field is changed by hand: at once, letter by letter, and with what the server makes of it. */

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

/** The control whose value is being made. */
let going: string | null = null;

/** Changes of a field.
 * @param id - tells its control apart, so that letters that belong to one word are one step.
 */
export function fieldChange(node: string, field: Field, id: string): FieldChanging {
  const put = (value: unknown, amends: boolean) => {
    const { history, change } = useFlow.getState();
    change(setField(history.present, node, field.name, value), { amends });
  };
  const ask = (value: unknown) => {
    if (!isDecidedByServer(field)) return;
    const { configure } = useFlow.getState();
    configure(node, { [field.name]: value }).catch(useApp.getState().fail);
  };
  return {
    now: (value) => {
      going = null;
      put(value, false);
      ask(value);
    },
    going: (value) => {
      put(value, going === id);
      going = id;
    },
    settle: () => {
      if (going !== id) return;
      going = null;
      ask(field.value);
    },
  };
}
