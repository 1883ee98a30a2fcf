import { expect, test } from "vitest";

import { message } from "../src/assistant/parts";
import type { Answer, Part } from "../src/assistant/parts";
import { waitingIn } from "../src/state/waiting";
import { echo } from "./flows";

const proposal = (id: string, state: Answer): Part => ({ kind: "proposal", id, name: id, flow: echo(), state });
const waiting = (...parts: Part[]): (string | null)[] => waitingIn(parts.map((part, at) => message(String(at), "assistant", [part])), echo()).map(({ id }) => id);

test("of proposals the last one waits on the canvas, and none once that is answered", () => {
  expect(waiting(proposal("first", "open"))).toEqual(["first"]);
  expect(waiting(proposal("first", "open"), proposal("second", "open"))).toEqual(["second"]);
  expect(waiting(proposal("first", "open"), proposal("second", "approved"))).toEqual([]);
  expect(waiting(proposal("first", "open"), proposal("second", "denied"))).toEqual([]);
});
