import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { strings } from "../strings";

/** Which model answers; while the demo planner does, a way to a real one. */
export function ModelPicker() {
  const config = useApp((app) => app.config);
  const { model, choose } = useAssistant();
  if (config === null) return null;
  const ready = config.providers.filter((one) => one.configured);
  if (ready.length === 0) {
    return (
      <small className="grow">
        {strings.demo} · <a href="#/settings">{strings.useModel}</a>
      </small>
    );
  }
  const usual = [config.default_provider, config.default_model].filter(Boolean).join(": ");
  return (
    <select className="grow" aria-label={strings.model} value={model ?? ""} onChange={(event) => choose(event.target.value === "" ? null : event.target.value)}>
      <option value="">{usual}</option>
      {ready.map((provider) => (
        <optgroup key={provider.name} label={provider.display_name}>
          {provider.models.map((one) => (
            <option key={one.name} value={`${provider.name}:${one.name}`}>
              {one.display_name}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  );
}
