const letters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** How many code units a letter as readers see it may take before it is cut: marks can be piled up without end. */
const LONGEST_LETTER = 32;

/** The beginning of a text with an ellipsis behind it; no letter, emoji or mark is cut in two.
 * @param most - how many letters stay, as readers count them.
 */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  let count = 0;
  for (const { index } of letters.segment(text.slice(0, (most + 1) * LONGEST_LETTER))) {
    if (count === most) return `${text.slice(0, index)}…`;
    count += 1;
  }
  return text.length <= (most + 1) * LONGEST_LETTER ? text : `${text.slice(0, most * LONGEST_LETTER)}…`;
}

/** A text as it is compared with what somebody looks for: in whichever case, and however its marks are encoded. */
export function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
