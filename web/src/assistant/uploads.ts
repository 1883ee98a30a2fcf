import { request } from "../api/http";

/** Stores files among the user's; returns their paths. */
export async function uploaded(chosen: Iterable<File>): Promise<string[]> {
  const form = new FormData();
  for (const one of chosen) form.append("file", one);
  const { files } = await request<{ files: { path: string }[] }>("POST", "/api/v1/files", { body: form });
  return files.map(({ path }) => path);
}
