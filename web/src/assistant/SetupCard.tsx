import { Suspense, lazy, useEffect, useState } from "react";

import type { Schemas, UserFile } from "../api/contract";
import { uploadFiles } from "../api/files";
import { request, send } from "../api/http";
import { nodesOf, idOf, definitionOf } from "../flow/document";
import { setField } from "../flow/edit";
import { useApp } from "../state/app";
import { useFlow } from "../state/flow";
import { useNeeds } from "../state/needs";
import type { Need } from "../state/needs";
import { language, strings } from "../strings";
import { Button } from "../ui/Button";
import { FilePicker } from "../ui/FilePicker";
import { Pointer } from "./Pointer";

const Cards = lazy(() => import("../views/ProviderCards").then((loaded) => ({ default: loaded.ProviderCards })));

const POLL_MILLISECONDS = 1_000;

/** What the flow still needs before it can run, each with what settles it on the spot; nothing when it needs nothing. */
export function SetupCard() {
  const id = useFlow((state) => state.id);
  const { needs, load, flow } = useNeeds();
  const fail = useApp((app) => app.fail);
  if (id === null || flow !== id || needs.length === 0) return null;
  const again = () => {
    load(id).catch(fail);
  };
  return (
    <section className="card setup" aria-label={strings.setUp}>
      <h2>{strings.setUpCount(merged(needs).length)}</h2>
      <ul className="needs">
        {merged(needs).map((one) => (
          <li
            key={`${one.need.kind} ${one.need.name} ${one.need.field} ${one.nodes.join(" ")}`}
            onPointerEnter={() => useFlow.getState().point(one.need.node)}
            onPointerLeave={() => useFlow.getState().point(null)}
          >
            <p>
              <strong>{strings.needTitles[one.need.kind]}</strong> <Pointer node={one.need.node}>{one.titles.join(", ")}</Pointer>
            </p>
            <Remedy need={one.need} nodes={one.nodes} onDone={again} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Merged {
  need: Need;
  nodes: string[];
  titles: string[];
}

/** Needs that one remedy settles are one: the same provider, variable or bundle. */
function merged(needs: Need[]): Merged[] {
  const found = new Map<string, Merged>();
  for (const need of needs) {
    const isShared = need.kind === "bundle" || need.kind === "secret" || need.kind === "model";
    const key = isShared ? `${need.kind} ${need.name}` : `${need.kind} ${need.node} ${need.field} ${need.name}`;
    const before = found.get(key) ?? { need, nodes: [], titles: [] };
    found.set(key, { need: before.need, nodes: [...before.nodes, need.node], titles: [...new Set([...before.titles, need.title])] });
  }
  return [...found.values()];
}

function Remedy({ need, nodes, onDone }: { need: Need; nodes: string[]; onDone: () => void }) {
  switch (need.kind) {
    case "model":
      return <ModelRemedy need={need} onDone={onDone} />;
    case "secret":
      return <SecretRemedy need={need} nodes={nodes} onDone={onDone} />;
    case "file":
      return <FileRemedy need={need} onDone={onDone} />;
    case "bundle":
      return <BundleRemedy need={need} onDone={onDone} />;
  }
}

function ModelRemedy({ need, onDone }: { need: Need; onDone: () => void }) {
  const [isOpen, setOpen] = useState(need.name !== "");
  return (
    <>
      <p>{need.name === "" ? strings.needModel : strings.needProvider(need.name)}</p>
      {isOpen ? (
        <Suspense fallback={<p>{strings.loading}</p>}>
          <Cards only={need.name} onChanged={onDone} />
        </Suspense>
      ) : (
        <Button look="primary" onClick={() => setOpen(true)}>
          {strings.chooseProvider}
        </Button>
      )}
    </>
  );
}

function SecretRemedy({ need, nodes, onDone }: { need: Need; nodes: string[]; onDone: () => void }) {
  const fail = useApp((app) => app.fail);
  const [value, setValue] = useState("");
  const keep = async () => {
    await send("PUT", `/api/v1/variables/${encodeURIComponent(need.name)}`, { json: { value } });
    const { history, change, save } = useFlow.getState();
    const named = nodes.reduce((flow, node) => withVariable(flow, node, need.field, need.name), history.present);
    if (named !== history.present) change(named);
    setValue("");
    await save();
    onDone();
  };
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault();
        keep().catch(fail);
      }}
    >
      <label className="grow">
        {need.label} <code>{need.name}</code>
        <input type="password" autoComplete="off" value={value} onChange={(event) => setValue(event.target.value)} />
      </label>
      <Button type="submit" look="primary" disabled={value === ""}>
        {strings.keepSecret}
      </Button>
    </form>
  );
}

/** The flow whose field takes its value from a variable. */
function withVariable(flow: Parameters<typeof setField>[0], node: string, field: string, variable: string) {
  const found = nodesOf(flow).find((one) => idOf(one) === node);
  const entry = found === undefined ? undefined : (definitionOf(found).template[field] as { value?: unknown; load_from_db?: boolean } | undefined);
  return entry === undefined || entry.value === variable || entry.load_from_db !== true ? flow : setField(flow, node, field, variable);
}

function FileRemedy({ need, onDone }: { need: Need; onDone: () => void }) {
  const fail = useApp((app) => app.fail);
  const [files, setFiles] = useState<UserFile[]>([]);
  useEffect(() => {
    request<{ files: UserFile[] }>("GET", "/api/v1/files").then((page) => setFiles(page.files), fail);
  }, [fail]);
  const take = async (path: string) => {
    const { history, change, save } = useFlow.getState();
    const node = nodesOf(history.present).find((one) => idOf(one) === need.node);
    const field = node === undefined ? undefined : (definitionOf(node).template[need.field] as { list?: boolean } | undefined);
    change(setField(history.present, need.node, need.field, field?.list === true ? [path] : path));
    await save();
    onDone();
  };
  const upload = async (chosen: Iterable<File>) => {
    const [first] = await uploadFiles(chosen);
    if (first !== undefined) await take(first);
  };
  return (
    <>
      <p>{need.name === "" ? strings.needFile : strings.needThisFile(need.name)}</p>
      <div className="row">
        <FilePicker look="primary" onChoose={(chosen) => void upload(chosen).catch(fail)}>
          {strings.uploadFile}
        </FilePicker>
        {files.length > 0 && (
          <select aria-label={strings.chooseOwnFile} value="" onChange={(event) => void take(event.target.value).catch(fail)}>
            <option value="">{strings.chooseOwnFile}</option>
            {files.map((one) => (
              <option key={one.path}>{one.path}</option>
            ))}
          </select>
        )}
      </div>
    </>
  );
}

function BundleRemedy({ need, onDone }: { need: Need; onDone: () => void }) {
  const fail = useApp((app) => app.fail);
  const [bundle, setBundle] = useState<Schemas["BundleEntry"] | null>(null);
  const path = `/api/v1/bundles/${encodeURIComponent(need.name)}`;
  const isInstalling = bundle?.state === "installing";
  useEffect(() => {
    if (!isInstalling) return;
    const timer = setInterval(() => {
      request<Schemas["BundleEntry"]>("GET", path).then((now) => {
        setBundle(now);
        if (now.state === "installed") onDone();
      }, fail);
    }, POLL_MILLISECONDS);
    return () => clearInterval(timer);
  }, [isInstalling, path, onDone, fail]);
  const size = need.size_mb?.toLocaleString(language(), { style: "unit", unit: "megabyte", maximumFractionDigits: 0 });
  return (
    <>
      <p>
        <code>{need.name}</code> {size !== undefined && <span className="hint">{strings.downloadSize(size)}</span>}
      </p>
      <Button
        look="primary"
        disabled={isInstalling}
        onClick={() => void request<Schemas["BundleEntry"]>("POST", `${path}/install`).then(setBundle).catch(fail)}
      >
        {strings.install}
      </Button>
      <p role="status" className={bundle?.state === "failed" ? "error" : "hint"}>
        {bundle === null ? "" : bundle.state === "failed" ? [bundle.error, bundle.fix].filter(Boolean).join(" ") : bundle.progress || (isInstalling ? strings.installing : "")}
      </p>
    </>
  );
}
