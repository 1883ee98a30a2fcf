/** Lists that change while they are looked at. */

import { useEffect } from "react";

import { language } from "../strings";

const MILLISECONDS = 2_000;

/** Loads at once, and again and again while something goes on and the page is looked at. */
export function useRepeated(load: () => void, goesOn: boolean): void {
  useEffect(load, [load]);
  useEffect(() => {
    if (!goesOn) return;
    const timer = setInterval(() => {
      if (!document.hidden) load();
    }, MILLISECONDS);
    return () => clearInterval(timer);
  }, [load, goesOn]);
}

/** A time, short, in the language of the page. */
export function moment(at: string): string {
  return new Date(at).toLocaleString(language(), { dateStyle: "medium", timeStyle: "short" });
}
