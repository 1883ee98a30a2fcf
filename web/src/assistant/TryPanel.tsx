import { Eraser, SendHorizontal, Square } from "lucide-react";
import { useState } from "react";

import type { Schemas } from "../api/contract";
import { request } from "../api/http";
import { useApp } from "../state/app";
import { useFlow } from "../state/flow";
import { useRun } from "../state/run";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { Markdown } from "../ui/Markdown";
import { withTest } from "./flowTests";
import type { FlowTest } from "./flowTests";

/** A chat with the flow itself. */
export function TryPanel() {
  const { said, isRunning, start, stop, startNew } = useRun();
  const fail = useApp((app) => app.fail);
  const [text, setText] = useState("");
  const say = useApp((app) => app.say);
  const keep = async (input: string, output: string) => {
    const path = `/api/v1/flows/${encodeURIComponent(useFlow.getState().id ?? "")}/tests`;
    const { tests, models } = await request<Schemas["FlowTestsReply"]>("GET", path);
    await request("PUT", path, { json: { tests: withTest(tests as FlowTest[], { input, equals: output }), models } });
    say(strings.savedTest);
  };
  const submit = () => {
    if (isRunning) return;
    setText("");
    start(text).catch(fail);
  };
  return (
    <>
      <div className="log" role="log" aria-label={strings.tryFlow} aria-busy={isRunning} tabIndex={0}>
        {said.length === 0 && <p className="hint">{strings.tryHint}</p>}
        {said.map((one) => (
          <article className="message" key={one.id}>
            {one.input !== "" && <p className="said own">{one.input}</p>}
            {one.output !== "" && <Markdown text={one.output} />}
            {one.error !== null && (
              <p className="error" role="alert">
                {one.error}
              </p>
            )}
            {one.seconds !== null && one.error === null && one.output !== "" && (
              <div className="row actions">
                <Button onClick={() => void keep(one.input, one.output).catch(fail)}>{strings.saveTest}</Button>
              </div>
            )}
            {one.seconds === null ? null : <small className="figures">{strings.seconds(one.seconds)}</small>}
          </article>
        ))}
        {isRunning && <p className="status">{strings.running}</p>}
      </div>
      <form
        className="composer"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <textarea
          aria-label={strings.runInput}
          rows={2}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            submit();
          }}
        />
        <div className="row end">
          <Button label={strings.forgetSession} icon={<Eraser size={16} />} onClick={startNew} />
          {isRunning ? (
            <Button label={strings.stop} icon={<Square size={16} />} onClick={() => void stop().catch(fail)} />
          ) : (
            <Button type="submit" look="primary" label={strings.run} icon={<SendHorizontal size={16} />} />
          )}
        </div>
      </form>
    </>
  );
}
