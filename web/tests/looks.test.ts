/** Rules of looks that can be computed: colours that stay apart, and sizes of one scale. */

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { lookOf } from "../src/canvas/colours";

const TYPES = ["Message", "JSON", "Table", "LanguageModel", "Tool", "Embeddings", "VectorStore", "Anything"];

/** How people see who lack one kind of cones, as matrices on linear RGB (Machado, Oliveira and Fernandes 2009). */
const SEEN: Record<string, number[][]> = {
  everybody: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

function linear(colour: string): number[] {
  return [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
}

function luminance(colour: string, matrix: number[][]): number {
  const seen = matrix.map((row) => Math.min(1, Math.max(0, row.reduce((sum, factor, at) => sum + factor * (linear(colour)[at] ?? 0), 0))));
  return 0.2126 * (seen[0] ?? 0) + 0.7152 * (seen[1] ?? 0) + 0.0722 * (seen[2] ?? 0);
}

test("no two kinds of ports differ by colour alone", () => {
  const signs = TYPES.map((type) => `${lookOf([type]).shape} ${lookOf([type]).letter}`);
  expect(new Set(signs).size).toBe(TYPES.length);
});

test.each(Object.entries(SEEN))("a port's letter is read on its colour: %s", (_, matrix) => {
  for (const type of TYPES) {
    const contrast = 1.05 / (luminance(lookOf([type]).colour, matrix) + 0.05); // the letter is white
    expect(contrast, type).toBeGreaterThanOrEqual(4.5);
  }
});

const STYLES = ["", "assistant", "canvas", "views"].flatMap((folder) => {
  const path = join(import.meta.dirname, "../src", folder);
  return readdirSync(path).filter((name) => name.endsWith(".css")).map((name) => readFileSync(join(path, name), "utf8"));
}).join("\n");

test("text has sizes of one scale", () => {
  const sizes = [...STYLES.matchAll(/(?:font-size: |font: (?:\d+ )?)(\d+)px/g)].map((found) => Number(found[1]));
  expect(sizes.length).toBeGreaterThan(3);
  expect([...new Set(sizes)].filter((size) => ![9, 11, 12, 13, 14, 16, 20].includes(size))).toEqual([]);
});

test("room is left by the steps of one scale", () => {
  const rooms = [...STYLES.matchAll(/(?:^|[\s;{])(?:padding|margin|gap)[a-z-]*: ([^;}]*)/g)].flatMap((found) => [...(found[1] ?? "").matchAll(/(?<![\w-])(\d+)px/g)].map((size) => Number(size[1])));
  expect([...new Set(rooms)].filter((size) => size !== 2)).toEqual([]);
});
