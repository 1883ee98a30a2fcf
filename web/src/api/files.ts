/** The user's files on the server. */

import type { UserFile } from "./contract";
import { confirmedReplacement } from "../ui/confirmed";
import { request } from "./http";

export async function listFiles(): Promise<UserFile[]> {
  return (await request<{ files: UserFile[] }>("GET", "/api/v1/files")).files;
}

/** A name that no file has: with a number behind it. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  const dot = name.lastIndexOf(".");
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  for (let number = 2; ; number += 1) {
    const free = `${stem} (${number})${ending}`;
    if (!taken.has(free)) return free;
  }
}

/** Puts files there, and asks before one replaces another; returns their paths. */
export async function uploadFiles(files: Iterable<File>): Promise<string[]> {
  const form = new FormData();
  const taken = new Set((await listFiles()).map(({ path }) => path));
  for (const file of files) {
    const beside = taken.has(file.name) ? freeName(file.name, taken) : file.name;
    const name = beside === file.name || confirmedReplacement(file.name, beside) ? file.name : beside;
    taken.add(name);
    form.append("file", file, name);
  }
  return (await request<{ files: { path: string }[] }>("POST", "/api/v1/files", { body: form })).files.map(({ path }) => path);
}
