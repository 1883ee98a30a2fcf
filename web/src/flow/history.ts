/** What undo and redo go through. */

export interface History<T> {
  past: readonly T[];
  present: T;
  future: readonly T[];
}

/** How many steps can be taken back. */
export const STEPS = 100;

export function begin<T>(present: T): History<T> {
  return { past: [], present, future: [] };
}

/** A step; what was undone before it cannot be redone any more. */
export function step<T>(history: History<T>, next: T): History<T> {
  if (next === history.present) return history;
  return { past: [...history.past, history.present].slice(-STEPS), present: next, future: [] };
}

/** A change that belongs to the last step, such as more letters of one word. */
export function amend<T>(history: History<T>, next: T): History<T> {
  return next === history.present ? history : { ...history, present: next, future: [] };
}

export function undo<T>(history: History<T>): History<T> {
  const before = history.past.at(-1);
  if (before === undefined) return history;
  return { past: history.past.slice(0, -1), present: before, future: [history.present, ...history.future] };
}

export function redo<T>(history: History<T>): History<T> {
  const [next, ...rest] = history.future;
  if (next === undefined) return history;
  return { past: [...history.past, history.present], present: next, future: rest };
}
