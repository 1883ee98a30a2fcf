import { request } from "../../api/http";
import { useFlow } from "../../state/flow";

/** Stores an earlier version of the flow as its next one, and shows it. */
export async function restoreVersion(to: number): Promise<void> {
  await useFlow.getState().save();
  const { id, version, open } = useFlow.getState();
  if (id === null) return;
  await request("POST", `/api/v1/flows/${encodeURIComponent(id)}/revisions/${to}/restore`, { json: { version } });
  await open(id);
}
