import { uploadFiles } from "../api/files";
import { RequestFailed } from "../api/http";
import { useApp } from "../state/app";
import { strings } from "../strings";
import { shortened } from "../ui/shortened";

/** Stores files among the user's; returns the paths of those that the server took, and says why it refused others. */
export async function uploaded(chosen: Iterable<File>): Promise<string[]> {
  const [paths, refused] = [new Array<string>(), new Array<string>()];
  for (const one of [...chosen]) {
    try {
      paths.push(...(await uploadFiles([one])));
    } catch (error) {
      if (!(error instanceof RequestFailed) || error.problem.status === 0 || error.problem.status === 401) throw error;
      const { message, fix } = error.problem;
      refused.push(strings.notAdded(shortened(one.name, 60), [message, fix].filter(Boolean).join(" ")));
    }
  }
  if (refused.length > 0) useApp.getState().warn(refused.join(" "));
  return paths;
}
