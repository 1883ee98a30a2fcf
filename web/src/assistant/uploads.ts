import { RequestFailed, request } from "../api/http";

/** Stores files among the user's, each by itself, so that one that is refused leaves the others; returns the paths of those stored.
 * @param refused - told of the files that were not stored, and why.
 */
export async function uploaded(chosen: Iterable<File>, refused: (error: unknown) => void): Promise<string[]> {
  const stored: string[] = [];
  for (const one of chosen) {
    const form = new FormData();
    form.append("file", one);
    try {
      const { files } = await request<{ files: { path: string }[] }>("POST", "/api/v1/files", { body: form });
      stored.push(...files.map(({ path }) => path));
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      const { problem } = error;
      refused(problem.status === 0 ? error : new RequestFailed({ ...problem, message: `${one.name}: ${problem.message}` }));
    }
  }
  return stored;
}
