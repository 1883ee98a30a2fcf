import { memo } from "react";
import ReactMarkdown from "react-markdown";
import type { Components } from "react-markdown";
import remarkGfm from "remark-gfm";

const COMPONENTS: Components = {
  a: ({ href, children }) =>
    href === undefined || href === "" ? ( // its address was not safe
      <span>{children}</span>
    ) : (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ),
  img: ({ alt, src }) => <span className="no-image">{alt === undefined || alt === "" ? String(src) : alt}</span>, // never loaded
  table: ({ children }) => (
    <div className="scroll-x">
      <table>{children}</table>
    </div>
  ),
};

const PLUGINS = [remarkGfm];

export default memo(function RenderedMarkdown({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  );
});
