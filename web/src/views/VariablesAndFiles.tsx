import { Plus, Trash2 } from "lucide-react";
import { useCallback, useEffect, useState } from "react";

import type { UserFile } from "../api/contract";
import { request, send } from "../api/http";
import { uploaded } from "../assistant/uploads";
import { useApp } from "../state/app";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { FilePicker } from "../ui/FilePicker";
import { bytesText } from "../ui/bytes";
import { confirmedDeletion } from "../ui/confirmed";

const VARIABLE = /^[A-Za-z0-9_]+$/;

/** Values that flows read by name; they are written here and never shown. */
export function Variables() {
  const { fail, warn } = useApp();
  const [names, setNames] = useState<string[]>([]);
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const load = useCallback(() => {
    request<{ variables: { name: string }[] }>("GET", "/api/v1/variables").then((page) => setNames(page.variables.map((one) => one.name)), fail);
  }, [fail]);
  useEffect(load, [load]);
  return (
    <section aria-labelledby="variables">
      <h2 id="variables">{strings.variables}</h2>
      {names.length === 0 && <p className="hint">{strings.noVariables}</p>}
      <ul className="lines">
        {names.map((one) => (
          <li key={one} className="row">
            <code className="grow">{one}</code>
            <Button
              look="danger"
              label={`${strings.delete}: ${one}`}
              icon={<Trash2 size={16} />}
              onClick={() => {
                if (confirmedDeletion(one)) void send("DELETE", `/api/v1/variables/${encodeURIComponent(one)}`).then(load, fail);
              }}
            />
          </li>
        ))}
      </ul>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          if (!VARIABLE.test(name.trim())) {
            warn(strings.variableNames);
            return;
          }
          send("PUT", `/api/v1/variables/${encodeURIComponent(name.trim())}`, { json: { value } }).then(() => {
            setName("");
            setValue("");
            load();
          }, fail);
        }}
      >
        <input aria-label={strings.name} placeholder={strings.name} value={name} onChange={(event) => setName(event.target.value)} />
        <input aria-label={strings.value} placeholder={strings.value} type="password" autoComplete="off" value={value} onChange={(event) => setValue(event.target.value)} />
        <Button type="submit" disabled={name.trim() === "" || value === ""}>
          {strings.save}
        </Button>
      </form>
    </section>
  );
}

/** The files of the user, which flows and the assistant read and write. */
export function Files() {
  const fail = useApp((app) => app.fail);
  const [files, setFiles] = useState<UserFile[]>([]);
  const load = useCallback(() => {
    request<{ files: UserFile[] }>("GET", "/api/v1/files").then((page) => setFiles(page.files), fail);
  }, [fail]);
  useEffect(load, [load]);
  const add = (chosen: Iterable<File>) => void uploaded(chosen).then(load, fail);
  return (
    <section
      aria-labelledby="files"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        add(event.dataTransfer.files);
      }}
    >
      <h2 id="files">{strings.files}</h2>
      <p>
        <FilePicker multiple icon={<Plus size={16} />} onChoose={add}>
          {strings.addFiles}
        </FilePicker>
      </p>
      {files.length === 0 && <p className="hint">{strings.noFiles}</p>}
      <ul className="lines">
        {files.map((one) => (
          <li key={one.path} className="row">
            <a className="grow" href={one.url} download>
              <bdi>{one.path}</bdi>
            </a>
            <small>{bytesText(one.size)}</small>
            <Button
              look="danger"
              label={`${strings.delete}: ${one.path}`}
              icon={<Trash2 size={16} />}
              onClick={() => {
                if (confirmedDeletion(one.path)) void send("DELETE", one.url).then(load, fail);
              }}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

