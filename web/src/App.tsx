import { X } from "lucide-react";
import { Suspense, lazy, useEffect } from "react";

import { startReporting } from "./api/measured";
import { useApp } from "./state/app";
import { strings } from "./strings";
import { Button } from "./ui/Button";
import { FlowView } from "./views/FlowView";
import { FlowsView } from "./views/FlowsView";
import { SignInView } from "./views/SignInView";

const SettingsView = lazy(() => import("./views/SettingsView").then((loaded) => ({ default: loaded.SettingsView })));

/** The page: signing in, the list of flows, or one flow with the assistant. */
export function App() {
  const { place, isSignedOut, config, notice, say, load } = useApp();
  useEffect(() => {
    void load().then(() => {
      if (useApp.getState().config !== null) startReporting();
    });
  }, [load]);
  if (isSignedOut) return <SignInView />;
  return (
    <>
      {config === null ? (
        <p className="center" role="status">
          {notice ?? strings.loading}
        </p>
      ) : place.view === "flow" ? (
        <FlowView key={place.id} id={place.id} />
      ) : place.view === "flows" ? (
        <FlowsView />
      ) : (
        <Suspense fallback={<p className="center">{strings.loading}</p>}>
          <SettingsView view={place.view} name={place.name} />
        </Suspense>
      )}
      <div className="notices" role="status" aria-live="polite">
        {config !== null && notice !== null && (
          <p className="notice">
            {notice} <Button label={strings.close} icon={<X size={14} />} onClick={() => say(null)} />
          </p>
        )}
      </div>
    </>
  );
}
