import { Download } from "lucide-react";

import { strings } from "../../strings";
import { Button } from "../../ui/Button";
import type { Part } from "../parts";

/** A component that was written for the user; its code is always shown. */
export function ComponentCard({ part }: { part: Extract<Part, { kind: "component" }> }) {
  const title = strings.component(part.name);
  const save = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([part.code], { type: "text/x-python" }));
    link.download = `${part.name === "" ? "component" : part.name}.py`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <section className="card" aria-label={title}>
      <h2>{title}</h2>
      <small>{part.validated ? strings.componentChecked : strings.componentUnchecked}</small>
      <details open>
        <summary>{strings.code}</summary>
        <pre tabIndex={0} aria-label={strings.code}>
          {part.code}
        </pre>
      </details>
      <div className="row">
        <Button icon={<Download size={16} />} onClick={save}>
          {strings.download}
        </Button>
      </div>
    </section>
  );
}
