/** What the views beside the canvas say, in each language. */

export const en = {};

type Texts = typeof en;

export const de: Texts = {};

export const pt: Texts = {};
