import { KeyRound } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";

import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { kept } from "../state/kept";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { focusNext } from "../ui/returning";
import { ProvidersDialog } from "./ProvidersDialog";
import { DEMO, offersOf, usualModel } from "./models";

/** The way to a real model. Once there is one, a list stands in its place, and the keyboard goes there. */
function ToModels({ onOpen }: { onOpen: () => void }) {
  const link = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const mine = link.current;
    return () => {
      if (mine !== null && document.activeElement === mine) focusNext(() => document.querySelector(".panel .bar select"));
    };
  }, []);
  return (
    <button ref={link} type="button" className="link" onClick={onOpen}>
      {strings.useModel}
    </button>
  );
}

/** Which model answers; while the demo planner does, a way to a real one. */
export function ModelPicker() {
  const config = useApp((app) => app.config);
  const { model, choose } = useAssistant();
  const [isOpen, setOpen] = useState(false);
  const ready = config?.providers.filter((one) => one.configured) ?? [];
  const isGone = config !== null && model !== null && model !== DEMO && !ready.some((one) => model.startsWith(`${one.name}:`));
  useEffect(() => {
    if (isGone) choose(null); // its provider is not set up any more
  }, [isGone, choose]);
  if (config === null) return null;
  const usual = usualModel(config);
  const offered = offersOf(config, [...kept.namedModels, ...(model === null ? [] : [model])]);
  return (
    <>
      {ready.length === 0 ? (
        <div className="demo grow" title={strings.demoHint}>
          <span className="badge">{strings.demo}</span>{" "}
          <ToModels onOpen={() => setOpen(true)} />
        </div>
      ) : (
        <>
          <select
            className="grow"
            aria-label={strings.model}
            value={model ?? ""}
            onChange={(event) => choose(event.target.value === "" ? null : event.target.value)}
          >
            <option value="">{strings.usual(usual)}</option>
            {offered
              .filter((provider) => provider.models.length > 0)
              .map((provider) => (
                <optgroup key={provider.name} label={provider.name}>
                  {provider.models.map(({ value, label }) => (
                    <option key={value} value={value}>
                      {value === model ? `${provider.name}: ${label}` : label}
                    </option>
                  ))}
                </optgroup>
              ))}
            {config.default_provider !== DEMO && <option value={DEMO}>{strings.demo}</option>}
          </select>
          <Button label={strings.configureProviders} icon={<KeyRound size={16} />} onClick={() => setOpen(true)} />
        </>
      )}
      {isOpen && <ProvidersDialog onClose={() => setOpen(false)} />}
    </>
  );
}
