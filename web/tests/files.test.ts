import { readFileSync, readdirSync } from "node:fs";

import { expect, test } from "vitest";

test("files of this machine are chosen in one component", () => {
  const sources = readdirSync("src", { recursive: true, encoding: "utf-8" }).filter((name) => name.endsWith(".tsx"));
  expect(sources.filter((name) => readFileSync(`src/${name}`, "utf-8").includes('type="file"'))).toEqual(["ui/FilePicker.tsx"]);
});
