import { Plus, Trash2 } from "lucide-react";
import { useCallback, useEffect, useState } from "react";

import type { Schemas } from "../api/contract";
import { request } from "../api/http";
import { useApp } from "../state/app";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { RULES, ruleOf, titleOf } from "./flowTests";
import type { FlowTest, Rule } from "./flowTests";

type Tests = Schemas["FlowTestsReply"];
type Tested = Schemas["TestedFlowReply"];

/** The saved tests of the flow: what each must give, and after a run what it gave instead. */
export function TestsPanel() {
  const id = useFlow((state) => state.id);
  const fail = useApp((app) => app.fail);
  const [kept, setKept] = useState<Tests | null>(null);
  const [tested, setTested] = useState<Tested | null>(null);
  const [isRunning, setRunning] = useState(false);
  const path = `/api/v1/flows/${encodeURIComponent(id ?? "")}/tests`;
  const load = useCallback(() => request<Tests>("GET", path).then(setKept), [path]);
  useEffect(() => {
    if (id !== null) load().catch(fail);
  }, [id, load, fail]);
  const keep = async (tests: FlowTest[]) => {
    setTested(null);
    setKept(await request<Tests>("PUT", path, { json: { tests, models: kept?.models ?? [] } }));
  };
  const run = async () => {
    setRunning(true);
    try {
      await useFlow.getState().save();
      setTested(await request<Tested>("POST", `${path}/run`, { json: {} }));
    } finally {
      setRunning(false);
    }
  };
  const tests = (kept?.tests ?? []) as FlowTest[];
  return (
    <>
      <div className="log" tabIndex={0} role="region" aria-label={strings.tests} aria-busy={isRunning}>
        {kept !== null && tests.length === 0 && <p className="hint">{strings.noTests}</p>}
        <p role="status" className={tested === null ? "hint" : tested.ok ? "good" : "error"}>
          {isRunning ? strings.running : tested === null ? "" : strings.passedOf(tested.tests.filter((one) => one.passed).length, tested.tests.length)}
        </p>
        <ul className="tests">
          {tests.map((test, at) => (
            <li key={at} className="card" aria-label={titleOf(test)}>
              <TestItem test={test} tested={tested?.tests[at]} onRemove={() => void keep(tests.filter((_, other) => other !== at)).catch(fail)} />
            </li>
          ))}
        </ul>
      </div>
      <div className="composer">
        <NewTest onAdd={(test) => keep([...tests, test])} />
        <div className="row end">
          <Button look="primary" disabled={isRunning || tests.length === 0} onClick={() => void run().catch(fail)}>
            {strings.runTests}
          </Button>
        </div>
      </div>
    </>
  );
}

function TestItem({ test, tested, onRemove }: { test: FlowTest; tested: Schemas["TestedCase"] | undefined; onRemove: () => void }) {
  const rule = ruleOf(test);
  return (
    <>
      <div className="row">
        <strong className="grow">{titleOf(test)}</strong>
        {tested !== undefined && <span className={`badge ${tested.passed ? "good" : "bad"}`}>{tested.passed ? strings.passed : strings.failed}</span>}
        <Button look="danger" label={`${strings.delete}: ${titleOf(test)}`} icon={<Trash2 size={16} />} onClick={onRemove} />
      </div>
      {tested?.passed === false && tested.error !== "invalid_test" && tested.output !== null && rule !== null ? (
        <div className="diff">
          <small>{strings.expected(strings.rules[rule.rule])}</small>
          <ins>{rule.value}</ins>
          <small>{strings.got}</small>
          <del>{tested.output}</del>
        </div>
      ) : (
        <>
          {rule !== null && (
            <small>
              {strings.rules[rule.rule]} <code>{rule.value}</code>
            </small>
          )}
          {tested?.passed === false && <p className="error">{tested.reason}</p>}
        </>
      )}
    </>
  );
}

function NewTest({ onAdd }: { onAdd: (test: FlowTest) => Promise<void> }) {
  const fail = useApp((app) => app.fail);
  const [input, setInput] = useState("");
  const [rule, setRule] = useState<Rule>("contains");
  const [value, setValue] = useState("");
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onAdd({ input, [rule]: value }).then(() => {
          setInput("");
          setValue("");
        }, fail);
      }}
    >
      <label>
        {strings.testInput}
        <input value={input} onChange={(event) => setInput(event.target.value)} />
      </label>
      <div className="row">
        <select aria-label={strings.testRule} value={rule} onChange={(event) => setRule(event.target.value as Rule)}>
          {RULES.map((one) => (
            <option key={one} value={one}>
              {strings.rules[one]}
            </option>
          ))}
        </select>
        <input className="grow" aria-label={strings.testExpected} value={value} onChange={(event) => setValue(event.target.value)} />
        <Button type="submit" label={strings.addTest} icon={<Plus size={16} />} disabled={value === ""} />
      </div>
    </form>
  );
}
