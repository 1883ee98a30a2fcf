import { Download, File } from "lucide-react";
import { useState } from "react";

import { send } from "../../api/http";
import { useApp } from "../../state/app";
import { strings } from "../../strings";
import { bytesText } from "../../ui/bytes";
import type { Part } from "../parts";

const SHOWN_BYTES = 200_000;

/** A file that was written: opened in its place, or downloaded. */
export function FileCard({ part }: { part: Extract<Part, { kind: "file" }> }) {
  const fail = useApp((app) => app.fail);
  const [content, setContent] = useState(part.content);
  const url = `/api/v1/files/${part.path.split("/").map(encodeURIComponent).join("/")}`;
  const load = () => {
    if (content !== "" || part.size > SHOWN_BYTES) return;
    send("GET", url)
      .then((response) => response.text())
      .then(setContent)
      .catch(fail);
  };
  return (
    <section className="card file" aria-label={part.path}>
      <div className="row">
        <File size={16} aria-hidden="true" />
        <a className="grow" href={url} download>
          {part.path}
        </a>
        <small>{bytesText(part.size)}</small>
        <a className="button quiet icon" href={url} download aria-label={`${strings.download}: ${part.path}`} title={strings.download}>
          <Download size={16} />
        </a>
      </div>
      {part.size <= SHOWN_BYTES && (
        <details onToggle={(event) => event.currentTarget.open && load()}>
          <summary>{strings.open}</summary>
          <pre tabIndex={0} aria-label={part.path}>
            {content}
          </pre>
        </details>
      )}
    </section>
  );
}
