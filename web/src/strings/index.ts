/** What the page says, in each language. The assistant answers in the language of the message by itself. */

import { kept } from "../state/kept";
import * as assistant from "./assistant";
import * as canvas from "./canvas";
import * as shared from "./shared";
import * as views from "./views";

const en = { ...shared.en, ...canvas.en, ...assistant.en, ...views.en };

export type Strings = typeof en;

const LANGUAGES: Record<string, Strings> = {
  en,
  de: { ...shared.de, ...canvas.de, ...assistant.de, ...views.de },
  pt: { ...shared.pt, ...canvas.pt, ...assistant.pt, ...views.pt },
};

/** The language of the page: the chosen one, or the browser's first that it speaks. */
export function language(): string {
  const wanted = [kept.language ?? "", ...navigator.languages].map((one) => one.slice(0, 2).toLowerCase());
  return wanted.find((one) => one in LANGUAGES) ?? "en";
}

export const strings: Strings = LANGUAGES[language()] ?? en;
