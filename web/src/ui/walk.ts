import type { KeyboardEvent } from "react";

/** Moves the focus to the choice before or after it, in a list of buttons. */
export function walk(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const choices = [...event.currentTarget.querySelectorAll("button")];
  choices[choices.findIndex((one) => one === document.activeElement) + step]?.focus();
}
