import { useEffect, useRef } from "react";

import { RequestFailed, send } from "../api/http";
import { useApp } from "../state/app";
import { useFlow } from "../state/flow";
import { strings } from "../strings";
import { returning } from "../ui/returning";
import { SignInView } from "./SignInView";

useApp.subscribe(({ isSignedOut }, before) => {
  if (before.isSignedOut && !isSignedOut) void goOn();
});

/** Stores what was changed before the session ended; a page of somebody who may not read the flow begins anew. */
async function goOn(): Promise<void> {
  const { id, save, close } = useFlow.getState();
  if (id === null) return;
  try {
    await send("GET", `/api/v1/flows/${encodeURIComponent(id)}`);
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    if (error.problem.status !== 404) return; // it stays unsaved, and says so
    close();
    location.reload();
  }
  await save();
}

/** Signing in over a page whose session has ended: all that it holds waits behind, and is not seen meanwhile. */
export function SignInAgain() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const back = returning();
    dialog.current?.showModal();
    return back;
  }, []);
  return (
    <dialog
      ref={dialog}
      className="covers"
      aria-label={strings.signIn}
      onCancel={(event) => event.preventDefault()}
      onClose={() => dialog.current?.showModal()}
    >
      <SignInView hint={strings.keptBehind} />
    </dialog>
  );
}
