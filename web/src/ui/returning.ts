const FOCUSABLE = "button:not([disabled]), a[href], input:not([disabled]):not([type=hidden]), select:not([disabled]), textarea:not([disabled]), [tabindex]";

/** Remembers where the keyboard is, or was.
 * @returns brings it back there; if that is gone or cannot be seen, to the nearest place around it that is not.
 */
export function returning(before: EventTarget | null = document.activeElement): () => void {
  const around: Element[] = [];
  for (let one = before instanceof Element ? before.parentElement : null; one !== null && one !== document.body; one = one.parentElement) around.push(one);
  return () => {
    if (before instanceof Element && before !== document.body && focused(before)) return;
    for (const place of around) {
      if (!place.isConnected) continue;
      if ([...place.querySelectorAll(FOCUSABLE)].some(focused) || focused(place)) return;
    }
  };
}

/** Gives the keyboard to what stands in place of something that has just gone, once that is drawn. */
export function focusNext(find: () => Element | null | undefined): void {
  requestAnimationFrame(() => {
    const { activeElement } = document;
    if (activeElement !== null && activeElement !== document.body) return; // the user is elsewhere
    const found = find();
    if (found != null) focused(found);
  });
}

function focused(place: Element): boolean {
  if (!place.isConnected || !(place instanceof HTMLElement || place instanceof SVGElement)) return false;
  place.focus({ preventScroll: true });
  return document.activeElement === place;
}
