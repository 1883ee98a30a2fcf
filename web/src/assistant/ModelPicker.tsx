import { KeyRound } from "lucide-react";
import { useState } from "react";

import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { ProvidersDialog } from "./ProvidersDialog";
import { modelName } from "./modelName";

/** Which model answers; while the demo planner does, a way to a real one. */
export function ModelPicker() {
  const config = useApp((app) => app.config);
  const { model, choose } = useAssistant();
  const [isOpen, setOpen] = useState(false);
  if (config === null) return null;
  const ready = config.providers.filter((one) => one.configured);
  const usual = [config.default_provider, modelName(config.default_model)].filter(Boolean).join(": ");
  return (
    <>
      {ready.length === 0 ? (
        <div className="demo grow" title={strings.demoHint}>
          <span className="badge">{strings.demo}</span>{" "}
          <button type="button" className="link" onClick={() => setOpen(true)}>
            {strings.useModel}
          </button>
        </div>
      ) : (
        <>
          <select
            className="grow"
            aria-label={strings.model}
            value={model ?? ""}
            onChange={(event) => choose(event.target.value === "" ? null : event.target.value)}
          >
            <option value="">{usual}</option>
            {ready.map((provider) => (
              <optgroup key={provider.name} label={provider.display_name}>
                {provider.models.map((one) => (
                  <option key={one.name} value={`${provider.name}:${one.name}`}>
                    {modelName(one.display_name)}
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
          <Button label={strings.configureProviders} icon={<KeyRound size={16} />} onClick={() => setOpen(true)} />
        </>
      )}
      {isOpen && <ProvidersDialog onClose={() => setOpen(false)} />}
    </>
  );
}
