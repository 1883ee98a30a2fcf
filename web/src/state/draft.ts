/** What is written in a message field and not sent yet: neither another view nor a reload of this tab loses it. */

import { useEffect, useState } from "react";
import type { Dispatch, SetStateAction } from "react";

import { idOf, nodesOf } from "../flow/document";
import { useFlow } from "./flow";
import { mayHoldSecret } from "./secret";

/**
 * @property text - what is written; mentions are tokens in it.
 * @property files - the paths of the files that go along.
 * @property selected - the ids of the selected components that go along.
 */
export interface Draft {
  text: string;
  files: string[];
  selected: string[];
}

/** What stands in the field itself. */
type Written = Pick<Draft, "text" | "files">;

const NO_DRAFT: Draft = { text: "", files: [], selected: [] };

const KEY = "wirewright.drafts";

/** Those of this page's lifetime, also what may hold a key and is not stored. */
const here = new Map<string, Draft>();

/** The draft of a field, by the flow that it belongs to. */
export function draftOf(field: string): Draft {
  return here.get(field) ?? storedDrafts()[field] ?? NO_DRAFT;
}

export function keepDraft(field: string, draft: Draft): void {
  here.set(field, draft);
  const drafts = storedDrafts();
  if (isBlank(draft) || mayHoldSecret(withoutMentions(draft.text))) Reflect.deleteProperty(drafts, field);
  else drafts[field] = draft;
  store(drafts);
}

export function isBlank({ text, files }: Draft): boolean {
  return text.trim() === "" && files.length === 0;
}

/** Forgets all of them, when the user signs out. */
export function forgetDrafts(): void {
  here.clear();
  store({});
}

/** The draft of a field, and how it is changed; it is kept as it changes.
 * @param selected - the ids of what is selected, each on a line.
 * @param isKnown - whether it is known what is selected and what mentions mean: not before the flow is there.
 */
export function useDraft(field: string, selected = "", isKnown = true): [Written, Dispatch<SetStateAction<Written>>] {
  const [written, setWritten] = useState<Written>(() => draftOf(field));
  useEffect(() => {
    if (isKnown) keepDraft(field, { text: written.text, files: written.files, selected: selected.split("\n").filter(Boolean) });
  }, [field, written, selected, isKnown]);
  return [written, setWritten];
}

const TOKEN = /'([^'\s.]+)(?:\.[^'\s]+)?'/g;

/** A text without its mentions, whose ids look like keys. */
function withoutMentions(text: string): string {
  const ids = new Set(nodesOf(useFlow.getState().history.present).map(idOf));
  return text.replace(TOKEN, (token, id: string) => (ids.has(id) ? "" : token));
}

function storedDrafts(): Record<string, Draft> {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
    if (typeof found !== "object" || found === null) return {};
    return Object.fromEntries(Object.entries(found).filter((one): one is [string, Draft] => isDraft(one[1])));
  } catch {
    return {}; // storage is blocked, or holds what another version wrote
  }
}

function isDraft(found: unknown): found is Draft {
  const { text, files, selected } = (found ?? {}) as Partial<Record<keyof Draft, unknown>>;
  const areTexts = (list: unknown) => Array.isArray(list) && list.every((one) => typeof one === "string");
  return typeof text === "string" && areTexts(files) && areTexts(selected);
}

function store(drafts: Record<string, Draft>): void {
  try {
    if (Object.keys(drafts).length === 0) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, JSON.stringify(drafts));
  } catch {
    return; // storage is blocked: the page says so beside the conversation
  }
}
