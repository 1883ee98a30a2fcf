import { useEffect, useRef } from "react";
import type { UIEvent } from "react";

/** How near the end counts as at the end. */
const NEAR = 24;

/** Keeps a log at its end while it grows, until the user scrolls up; and goes there again when the user says something.
 * @param said - how often the user has said something.
 */
export function useEnd(said: number) {
  const log = useRef<HTMLDivElement>(null);
  const state = useRef({ isAtEnd: true, top: 0 });
  useEffect(() => {
    const at = log.current;
    if (at === null) return;
    const follow = () => {
      if (state.current.isAtEnd) at.scrollTop = at.scrollHeight;
    };
    const changes = new MutationObserver(follow);
    const sizes = new ResizeObserver(follow);
    changes.observe(at, { childList: true, subtree: true, characterData: true });
    sizes.observe(at);
    return () => {
      changes.disconnect();
      sizes.disconnect();
    };
  }, []);
  useEffect(() => {
    state.current.isAtEnd = true;
    if (log.current !== null) log.current.scrollTop = log.current.scrollHeight;
  }, [said]);
  const onScroll = ({ currentTarget: at }: UIEvent<HTMLElement>) => {
    const isNear = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR;
    const isUp = at.scrollTop < state.current.top; // what grows moves nothing up
    state.current = { isAtEnd: isNear || (state.current.isAtEnd && !isUp), top: at.scrollTop };
  };
  return { ref: log, onScroll };
}
