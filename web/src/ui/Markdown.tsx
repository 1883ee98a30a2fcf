import { Suspense, lazy, useDeferredValue } from "react";

const Rendered = lazy(() => import("./RenderedMarkdown"));

/** Text as Markdown; its plain words stand there until the renderer is loaded. A text that grows is drawn when there is
 * time for it, and not with each piece of it: the user can write and stop meanwhile. */
export function Markdown({ text }: { text: string }) {
  const drawn = useDeferredValue(text);
  return (
    <div className="markdown">
      <Suspense fallback={<p>{text}</p>}>
        <Rendered text={drawn} />
      </Suspense>
    </div>
  );
}
