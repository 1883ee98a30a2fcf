/** Gives the keyboard a place when a button is gone after it was pressed: the log, or the canvas where a small screen shows it. */
export function focusAfterAnswer(): void {
  requestAnimationFrame(() => {
    const isLost = document.activeElement === null || document.activeElement === document.body || !isShown(document.activeElement);
    if (!isLost) return;
    const places = [document.querySelector(".panel .log"), document.querySelector(".canvas")];
    const place = places.find((one) => one !== null && isShown(one));
    if (place instanceof HTMLElement) place.focus({ preventScroll: true });
  });
}

/** Whether something can be seen; a small screen hides the panel or the canvas. */
export function isShown(one: Element): boolean {
  return one.isConnected && getComputedStyle(one).visibility !== "hidden";
}

const FRAMES = 120;

/** Gives the keyboard to a field by its id as soon as it is drawn and shown, unless the user turns to something else first. */
export function focusWhenShown(id: string): void {
  const before = document.activeElement;
  const go = (left: number) => {
    const field = document.getElementById(id);
    const hasMoved = document.activeElement !== before && document.activeElement !== document.body;
    if (hasMoved) return;
    if (field !== null && isShown(field)) field.focus();
    else if (left > 0) requestAnimationFrame(() => go(left - 1));
  };
  requestAnimationFrame(() => go(FRAMES));
}
