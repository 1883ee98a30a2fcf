import { Suspense, lazy, useEffect } from "react";

import { startReporting } from "./api/measured";
import { useApp } from "./state/app";
import { useFlow } from "./state/flow";
import { strings } from "./strings";
import { Boundary } from "./ui/Boundary";
import { Notice } from "./ui/Notice";
import { plainName } from "./ui/plainName";
import { FlowView } from "./views/FlowView";
import { FlowsView } from "./views/FlowsView";
import { SignInAgain } from "./views/SignInAgain";
import { SignInView } from "./views/SignInView";

const SettingsView = lazy(() => import("./views/SettingsView").then((loaded) => ({ default: loaded.SettingsView })));

/** The page: signing in, the list of flows, or one flow with the assistant. */
export function App() {
  const { place, isSignedOut, config, notice, load } = useApp();
  const flow = useFlow((state) => (state.id === null ? "" : plainName(state.history.present.name, 60)));
  useEffect(() => {
    void load().then(() => {
      if (useApp.getState().config !== null) startReporting();
    });
  }, [load]);
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === "visible" && navigator.onLine && useApp.getState().config !== null) void useApp.getState().look();
    };
    document.addEventListener("visibilitychange", look);
    window.addEventListener("focus", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      window.removeEventListener("focus", look);
    };
  }, []);
  const named = place.view === "flows" ? strings.flows : place.view === "flow" ? flow : strings.views[place.view];
  useEffect(() => {
    document.title = named === "" ? "Wirewright" : `${named} – Wirewright`;
  }, [named]);
  if (isSignedOut && config === null) return <SignInView />;
  return (
    <>
      <Boundary of={place} fallback={<Broken />}>
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
      </Boundary>
      {isSignedOut && <SignInAgain />}
      <div className="notices" role="status" aria-live="polite">
        {config !== null && notice !== null && <Notice key={notice} text={notice} />}
      </div>
    </>
  );
}

/** In place of a view that cannot be drawn: the way back to the others. */
function Broken() {
  return (
    <main className="center">
      <p role="alert">{strings.somethingWrong}</p>
      <p>
        <a href="#/flows">{strings.back}</a>
      </p>
    </main>
  );
}
