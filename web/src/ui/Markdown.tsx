import { Suspense, lazy, memo, useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";

import { blocksOf } from "./blocks";

const Rendered = lazy(() => import("./RenderedMarkdown"));

/** A block that is longer is shown as it is written: to read it as Markdown would hold up the page. */
const LONGEST = 30_000;
/** How many times as long as drawing takes the page is free before it draws what came meanwhile. */
const PAUSE = 4;
const LONGEST_PAUSE = 2_000;

/** Text as Markdown; its plain words stand there until the renderer is loaded. Text that grows is drawn block by block. */
export function Markdown({ text }: { text: string }) {
  const shown = useUnhurried(text);
  const blocks = useMemo(() => blocksOf(shown), [shown]);
  return (
    <div className="markdown">
      {blocks.map((block, at) => (
        <Block key={at} text={block} />
      ))}
    </div>
  );
}

const Block = memo(function Block({ text }: { text: string }) {
  if (text.length > LONGEST) return <p className="as-written">{text}</p>;
  return (
    <Suspense fallback={<p>{text}</p>}>
      <Rendered text={text} />
    </Suspense>
  );
});

/** A text that changes often, at most as often as leaves the page free for most of the time. */
function useUnhurried(text: string): string {
  const [shown, setShown] = useState(text);
  const latest = useRef(text);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const took = useRef(0);
  useEffect(() => {
    latest.current = text;
    if (timer.current !== undefined || shown === text) return;
    timer.current = setTimeout(
      () => {
        timer.current = undefined;
        const begun = performance.now();
        flushSync(() => setShown(latest.current));
        took.current = performance.now() - begun;
      },
      Math.min(LONGEST_PAUSE, took.current * PAUSE),
    );
  }, [text, shown]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  return shown;
}
