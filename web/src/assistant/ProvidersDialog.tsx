import { Suspense, lazy } from "react";

import { strings } from "../strings";
import { Dialog } from "../ui/Dialog";

const Cards = lazy(() => import("../views/ProviderCards").then((loaded) => ({ default: loaded.ProviderCards })));

/** The providers, without leaving the conversation. */
export function ProvidersDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={strings.providers} onClose={onClose}>
      <Suspense fallback={<p>{strings.loading}</p>}>
        <div className="scrolls">
          <Cards />
        </div>
      </Suspense>
    </Dialog>
  );
}
