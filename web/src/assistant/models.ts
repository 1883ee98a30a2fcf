/** The models that can answer, and the one that the user means. */

import type { ConfigReply } from "../api/contract";
import { strings } from "../strings";
import { folded } from "../ui/shortened";
import { modelName } from "./modelName";

/** The planner that is no language model, as turns name it. */
export const DEMO = "demo";

/** What `/model` calls the model that answers where none is chosen. */
export const USUAL = "default";

export interface Offer {
  /** How turns name it: `provider:name`. */
  value: string;
  label: string;
}

/** The model that answers where none is chosen, as it is shown. */
export function usualModel(config: ConfigReply): string {
  return config.default_provider === DEMO ? strings.demo : [config.default_provider, modelName(config.default_model)].filter(Boolean).join(": ");
}

/** The models of each provider that is set up: those that it lists, and those that were named by hand. */
export function offersOf(config: ConfigReply, byHand: readonly string[]): { name: string; models: Offer[] }[] {
  return config.providers
    .filter((one) => one.configured)
    .map(({ name, display_name, models }) => {
      const known = models.map((one) => ({ value: `${name}:${one.name}`, label: modelName(one.display_name) }));
      const others = [...new Set(byHand)].filter((one) => one.startsWith(`${name}:`) && known.every(({ value }) => value !== one));
      return { name: display_name, models: [...known, ...others.map((value) => ({ value, label: value.slice(name.length + 1) }))] };
    });
}

/** What the user may mean by the name of a model.
 * @returns what turns name it, `null` for the usual one, and `undefined` when there is no such model, or several.
 */
export function modelMeant(written: string, config: ConfigReply, byHand: readonly string[]): string | null | undefined {
  const wanted = folded(written);
  if (wanted === USUAL) return null;
  if (wanted === DEMO) return DEMO;
  const all = offersOf(config, byHand).flatMap(({ models }) => models);
  const exact = all.find(({ value }) => folded(value) === wanted);
  if (exact !== undefined) return exact.value;
  const alike = all.filter(({ value, label }) => folded(value.slice(value.indexOf(":") + 1)) === wanted || folded(label) === wanted);
  if (alike.length > 0) return alike.length === 1 ? alike[0]?.value : undefined;
  const provider = config.providers.find((one) => one.configured && written.startsWith(`${one.name}:`) && written.length > one.name.length + 1);
  return provider === undefined ? undefined : written; // a list may lack what has just come out
}

/** What the name of a model that is being written may become: those that begin with it stand before those that contain it. */
export function modelChoices(written: string, config: ConfigReply, byHand: readonly string[]): Offer[] {
  const wanted = folded(written);
  const all = [...offersOf(config, byHand).flatMap(({ models }) => models), { value: USUAL, label: "" }, { value: DEMO, label: "" }];
  const place = ({ value, label }: Offer) => ([value, value.slice(value.indexOf(":") + 1), label].some((one) => folded(one).startsWith(wanted)) ? 0 : 1);
  return all
    .filter(({ value, label }) => folded(`${value}\n${label}`).includes(wanted))
    .filter(({ value }) => value !== written)
    .sort((one, other) => place(one) - place(other));
}
