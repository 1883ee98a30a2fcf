import { Suspense, lazy } from "react";

const Rendered = lazy(() => import("./RenderedMarkdown"));

/** Text as Markdown; its plain words stand there until the renderer is loaded. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown">
      <Suspense fallback={<p>{text}</p>}>
        <Rendered text={text} />
      </Suspense>
    </div>
  );
}
