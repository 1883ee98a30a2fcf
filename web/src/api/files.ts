/** The user's files on the server. */

import type { UserFile } from "./contract";
import { request } from "./http";

export async function listFiles(): Promise<UserFile[]> {
  return (await request<{ files: UserFile[] }>("GET", "/api/v1/files")).files;
}

/** Puts files there; returns their paths. */
export async function uploadFiles(files: Iterable<File>): Promise<string[]> {
  const form = new FormData();
  for (const file of files) form.append("file", file);
  return (await request<{ files: { path: string }[] }>("POST", "/api/v1/files", { body: form })).files.map(({ path }) => path);
}
