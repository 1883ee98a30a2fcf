import { Eraser, History, Paperclip, SendHorizontal, Square, X } from "lucide-react";
import { Suspense, lazy, useEffect, useState } from "react";

import type { Schemas } from "../api/contract";
import { request } from "../api/http";
import { chatInputOf, definitionOf, nodesOf, textOf } from "../flow/document";
import { useApp } from "../state/app";
import { useFlow } from "../state/flow";
import { useRun } from "../state/run";
import type { Said } from "../state/run";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { FilePicker } from "../ui/FilePicker";
import { Markdown } from "../ui/Markdown";
import { money } from "../ui/money";
import { withTest } from "./flowTests";
import type { FlowTest } from "./flowTests";
import { uploaded } from "./uploads";
import { useEnd } from "./useEnd";

const SessionsDialog = lazy(() => import("./SessionsDialog").then((loaded) => ({ default: loaded.SessionsDialog })));

/** The field in which a message for the flow is written. */
export const RUN_INPUT = "run-input";

/** A chat with the flow itself. */
export function TryPanel() {
  const { said, isRunning, isConnected, startNew, open } = useRun();
  const id = useFlow((state) => state.id);
  const fail = useApp((app) => app.fail);
  const [isChoosing, setChoosing] = useState(false);
  const end = useEnd(said.length);
  useEffect(() => {
    if (id !== null) open(id).catch(fail);
  }, [id, open, fail]);
  return (
    <>
      <div className="row bar end">
        <Button label={strings.sessions} icon={<History size={16} />} onClick={() => setChoosing(true)} />
        <Button label={strings.forgetSession} icon={<Eraser size={16} />} disabled={isRunning || said.length === 0} onClick={startNew} />
      </div>
      <div {...end} className="log" role="log" aria-label={strings.tryFlow} aria-busy={isRunning} tabIndex={0}>
        {said.length === 0 && <p className="hint">{strings.tryHint}</p>}
        {said.map((one, at) => (
          <Exchange key={one.id} said={one} isRunning={isRunning && at === said.length - 1} />
        ))}
        {isRunning && <p className="status">{strings.running}</p>}
        {!isConnected && <p className="notice-line">{strings.connectionLost}</p>}
      </div>
      <RunForm />
      {isChoosing && (
        <Suspense fallback={null}>
          <SessionsDialog onClose={() => setChoosing(false)} />
        </Suspense>
      )}
    </>
  );
}

/** What was said to the flow, what it answered, and what that took. */
function Exchange({ said: one, isRunning }: { said: Said; isRunning: boolean }) {
  const { fail, say } = useApp();
  const keep = async (input: string, output: string) => {
    const path = `/api/v1/flows/${encodeURIComponent(useFlow.getState().id ?? "")}/tests`;
    const { tests, models } = await request<Schemas["FlowTestsReply"]>("GET", path);
    await request("PUT", path, { json: { tests: withTest(tests as FlowTest[], { input, equals: output }), models } });
    say(strings.savedTest);
  };
  const isDone = !isRunning && one.error === null && one.output !== "";
  const figures = [one.seconds === null ? "" : strings.seconds(one.seconds), one.tokens === 0 ? "" : strings.tokens(one.tokens), one.cost === null ? "" : money(one.cost)].filter(Boolean);
  return (
    <article className="message">
      {one.input !== "" && <p className="said own">{one.input}</p>}
      {one.files.length > 0 && (
        <ul className="chips own" aria-label={strings.sentAlong}>
          {one.files.map((path) => (
            <li key={path} dir="auto">
              {path}
            </li>
          ))}
        </ul>
      )}
      {one.output !== "" && <Markdown text={one.output} />}
      {one.error !== null && (
        <p className="error" role="alert">
          {one.error}
        </p>
      )}
      {!isRunning && one.error === null && one.output === "" && <p className="notice-line">{one.why === undefined ? strings.answeredNothing : strings.nothingBecause(one.why)}</p>}
      {isDone && (
        <div className="row actions">
          <Button onClick={() => void keep(one.input, one.output).catch(fail)}>{strings.saveTest}</Button>
        </div>
      )}
      {figures.length > 0 && <small className="figures">{figures.join(" · ")}</small>}
    </article>
  );
}

/** Enter runs the flow: with what is written, or with the values that it has where it takes no message. */
function RunForm() {
  const { isRunning, start, stop } = useRun();
  const fail = useApp((app) => app.fail);
  const flow = useFlow((state) => state.history.present);
  const [text, setText] = useState("");
  const [files, setFiles] = useState<string[]>([]);
  const [isMissing, setMissing] = useState(false);
  const reader = chatInputOf(flow);
  const template = reader === undefined ? {} : definitionOf(reader).template;
  const has = textOf((template["input_value"] as { value?: unknown } | undefined)?.value) ?? "";
  const needsText = reader !== undefined && has === "" && files.length === 0;
  const isEmpty = nodesOf(flow).length === 0;
  const submit = () => {
    if (isRunning || isEmpty) return;
    if (needsText && text.trim() === "") {
      setMissing(true);
      document.getElementById(RUN_INPUT)?.focus();
      return;
    }
    setText("");
    setFiles([]);
    start(text.trim() === "" ? null : text, files).catch(fail);
  };
  const upload = (chosen: Iterable<File>) => {
    uploaded(chosen).then((paths) => setFiles((before) => [...new Set([...before, ...paths])]), fail);
  };
  const hint = isEmpty ? strings.nothingToRun : isMissing && needsText ? strings.writeFirst : text === "" && !needsText ? (has === "" ? strings.runsAsItIs : strings.runsWith(has)) : "";
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
        if ("files" in template && event.dataTransfer.files.length > 0) upload(event.dataTransfer.files);
      }}
    >
      {files.length > 0 && (
        <ul className="chips" aria-label={strings.sentAlong}>
          {files.map((path) => (
            <li key={path}>
              {path}
              <Button label={`${strings.remove}: ${path}`} icon={<X size={12} />} onClick={() => setFiles(files.filter((one) => one !== path))} />
            </li>
          ))}
        </ul>
      )}
      <textarea
        id={RUN_INPUT}
        aria-label={strings.runInput}
        aria-describedby={`${RUN_INPUT}-hint`}
        rows={2}
        value={text}
        placeholder={strings.runPlaceholder}
        onChange={(event) => {
          setText(event.target.value);
          setMissing(false);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          submit();
        }}
      />
      <p id={`${RUN_INPUT}-hint`} className={isMissing && needsText ? "error" : "hint"} role="status">
        {hint}
      </p>
      <div className="row">
        {"files" in template && <FilePicker multiple label={strings.attach} icon={<Paperclip size={16} />} onChoose={upload} />}
        <span className="grow" />
        {isRunning ? (
          <Button label={strings.stop} icon={<Square size={16} />} onClick={() => void stop().catch(fail)} />
        ) : (
          <Button type="submit" look="primary" label={strings.run} icon={<SendHorizontal size={16} />} disabled={isEmpty} />
        )}
      </div>
    </form>
  );
}
