import { Paperclip, SendHorizontal, Square, X } from "lucide-react";
import { useRef, useState } from "react";

import { request } from "../api/http";
import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { kept } from "../state/kept";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { recalled } from "./recall";
import type { Recall } from "./recall";

/** The field to write in: Enter sends, Shift+Enter breaks the line, arrows at its ends recall earlier messages. */
export function Composer() {
  const { turn, send, stop, applies, skipAll } = useAssistant();
  const fail = useApp((app) => app.fail);
  const [text, setText] = useState("");
  const [files, setFiles] = useState<string[]>([]);
  const [recall, setRecall] = useState<Recall>({ at: null, draft: "" });
  const chooser = useRef<HTMLInputElement>(null);

  const submit = () => {
    const wanted = text.trim();
    if (wanted === "") return;
    kept.keepInput(wanted);
    setText("");
    setFiles([]);
    setRecall({ at: null, draft: "" });
    send(wanted, files).catch(fail);
  };
  const upload = (chosen: FileList) => {
    const form = new FormData();
    for (const one of chosen) form.append("file", one);
    request<{ files: { path: string }[] }>("POST", "/api/v1/files", { body: form }).then(
      ({ files: stored }) => setFiles((before) => [...new Set([...before, ...stored.map(({ path }) => path)])]),
      fail,
    );
  };
  const onKeyDown = (event: React.KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      submit();
      return;
    }
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    const { selectionStart, selectionEnd, value } = event.currentTarget;
    const found = recalled(event.key === "ArrowUp" ? "up" : "down", value, [selectionStart, selectionEnd], recall, kept.inputs);
    if (found === null) return;
    event.preventDefault();
    setText(found.text);
    setRecall(found.recall);
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        if (event.dataTransfer.files.length > 0) upload(event.dataTransfer.files);
      }}
    >
      {files.length > 0 && (
        <ul className="chips">
          {files.map((path) => (
            <li key={path}>
              {path}
              <Button label={`${strings.remove}: ${path}`} icon={<X size={12} />} onClick={() => setFiles(files.filter((one) => one !== path))} />
            </li>
          ))}
        </ul>
      )}
      <textarea
        aria-label={strings.input}
        rows={3}
        value={text}
        placeholder={strings.placeholder}
        onChange={(event) => {
          setText(event.target.value);
          setRecall({ at: null, draft: "" });
        }}
        onKeyDown={onKeyDown}
      />
      <div className="row">
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            if (event.target.files !== null) upload(event.target.files);
          }}
        />
        <Button label={strings.attach} icon={<Paperclip size={16} />} onClick={() => chooser.current?.click()} />
        <label className="skip">
          <input type="checkbox" checked={applies === "always"} onChange={(event) => skipAll(event.target.checked)} /> {strings.skipAll}
        </label>
        {turn !== null && <Button label={strings.stop} icon={<Square size={16} />} onClick={() => void stop().catch(fail)} />}
        <Button type="submit" look="primary" label={strings.send} icon={<SendHorizontal size={16} />} disabled={text.trim() === ""} />
      </div>
    </form>
  );
}
