import { expect, it } from "vitest";

import * as assistant from "../src/strings/assistant";
import * as canvas from "../src/strings/canvas";
import * as shared from "../src/strings/shared";
import * as views from "../src/strings/views";

it("has each text in one file", () => {
  const names = [shared, canvas, assistant, views].flatMap((file) => Object.keys(file.en));
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});
