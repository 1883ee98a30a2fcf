/** Tests of a flow, as docs/flow-tests.md has them. */

export const RULES = ["contains", "equals", "lacks", "regex", "unlike", "error"] as const;

export type Rule = (typeof RULES)[number];

export type FlowTest = { name?: string; input?: string | null } & Partial<Record<Rule, string>> & Record<string, unknown>;

/** What a test is called: its name, or else its input. */
export function titleOf(test: FlowTest): string {
  return test.name ?? (test.input == null ? "—" : `“${test.input}”`);
}

/** What a test expects first; null for a test that expects only files. */
export function ruleOf(test: FlowTest): { rule: Rule; value: string } | null {
  const rule = RULES.find((one) => typeof test[one] === "string");
  return rule === undefined ? null : { rule, value: test[rule] ?? "" };
}

/** The tests with one more; the same input and expectation stay one test. */
export function withTest(tests: FlowTest[], test: FlowTest): FlowTest[] {
  const same = (one: FlowTest) => one.input === test.input && one.equals === test.equals && one.name === undefined;
  return tests.some(same) ? tests : [...tests, test];
}
