import { ArrowLeft } from "lucide-react";
import { Suspense, lazy, useEffect, useState } from "react";

import type { Schemas } from "../api/contract";
import { request } from "../api/http";
import { hashOf, useApp } from "../state/app";
import type { View } from "../state/app";
import { strings } from "../strings";
import { Preferences } from "./Preferences";
import { ProviderCards } from "./ProviderCards";
import { UsageView } from "./UsageView";
import { Files, Variables } from "./VariablesAndFiles";

const EvaluationsView = lazy(() => import("./EvaluationsView").then((loaded) => ({ default: loaded.EvaluationsView })));
const JobsView = lazy(() => import("./JobsView").then((loaded) => ({ default: loaded.JobsView })));
const UsersView = lazy(() => import("./UsersView").then((loaded) => ({ default: loaded.UsersView })));

const USUAL = ["providers", "variables", "files", "usage", "jobs", "evaluations"] as const;

/** What this user has on the server beside flows, each under an address of its own; and for an admin its users. */
export function SettingsView({ view, name }: { view: View; name: string | null }) {
  const fail = useApp((app) => app.fail);
  const [me, setMe] = useState<Schemas["WhoAsks"] | null>(null);
  useEffect(() => {
    request<Schemas["WhoAsks"]>("GET", "/api/v1/me").then(setMe, fail);
  }, [fail]);
  const isAdmin = me?.user.scopes.includes("admin") === true;
  const views: readonly View[] = isAdmin ? ["settings", ...USUAL, "users"] : ["settings", ...USUAL];
  return (
    <main className="flows">
      <header>
        <a className="button quiet icon" href="#/flows" aria-label={strings.back} title={strings.back}>
          <ArrowLeft size={16} />
        </a>
        <h1>{strings.settings}</h1>
      </header>
      <nav className="views" aria-label={strings.settings}>
        {views.map((one) => (
          <a key={one} href={hashOf({ view: one, name: null })} aria-current={one === view ? "page" : undefined}>
            {strings.views[one]}
          </a>
        ))}
      </nav>
      <Suspense fallback={<p role="status">{strings.loading}</p>}>
        <Shown view={view} name={name} isAdmin={isAdmin} />
      </Suspense>
    </main>
  );
}

function Shown({ view, name, isAdmin }: { view: View; name: string | null; isAdmin: boolean }) {
  switch (view) {
    case "settings":
      return <Preferences />;
    case "providers":
      return (
        <section aria-labelledby="providers">
          <h2 id="providers">{strings.providers}</h2>
          <ProviderCards />
        </section>
      );
    case "variables":
      return <Variables />;
    case "files":
      return <Files />;
    case "usage":
      return <UsageView isAdmin={isAdmin} />;
    case "jobs":
      return <JobsView name={name} />;
    case "evaluations":
      return <EvaluationsView name={name} />;
    case "users":
      return isAdmin ? <UsersView /> : <p className="hint">{strings.adminsOnly}</p>;
  }
}
