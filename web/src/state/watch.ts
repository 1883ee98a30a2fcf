/** Looks now and then whether somebody else has stored the open flow: another tab, a command line, an assistant elsewhere. */

import { RequestFailed } from "../api/http";
import { useCanvas } from "./canvas";
import { useFlow } from "./flow";

/** How long a page that is seen waits before it looks again. */
const MILLISECONDS = 10_000;

/** Looks at once when the page is seen or used again, and every few seconds while it is seen.
 * @returns what ends it.
 */
export function watch(): () => void {
  const look = () => {
    if (document.visibilityState !== "visible" || !navigator.onLine || isInHand()) return;
    useFlow
      .getState()
      .look()
      .catch((error: unknown) => {
        if (!(error instanceof RequestFailed)) throw error; // whoever saves next is told
      });
  };
  const timer = setInterval(look, MILLISECONDS);
  document.addEventListener("visibilitychange", look);
  window.addEventListener("focus", look);
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", look);
    window.removeEventListener("focus", look);
  };
}

/** Whether the user has something in hand that a newer flow would change under them: an open editor, a title, a component. */
function isInHand(): boolean {
  const { edited, renamed } = useCanvas.getState();
  return edited !== null || renamed !== null || document.querySelector(".react-flow__node.dragging, .react-flow__connection") !== null;
}
