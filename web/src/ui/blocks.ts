/** A Markdown text in parts that can be drawn one by one, so that what is written on changes only the last of them. */

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** What belongs to the block before a blank line: an indented line, an item of a list, a footnote. */
const GOES_ON = /^(?:[ \t]|[-*+] |[-*+]$|\d{1,9}[.)](?: |$)|\[\^)/;
/** A definition of a link or a footnote counts in the whole text. */
const DEFINITION = /^ {0,3}\[[^\]]+\]:/m;

export function blocksOf(text: string): string[] {
  if (DEFINITION.test(text)) return [text];
  const blocks: string[] = [];
  let [fence, isBlank, begun] = ["", false, 0];
  let at = 0;
  for (const line of text.split("\n")) {
    const opens = FENCE.exec(line)?.[1] ?? "";
    if (fence === "" && isBlank && line.trim() !== "" && !GOES_ON.test(line) && at > begun) {
      blocks.push(text.slice(begun, at));
      begun = at;
    }
    if (fence === "") fence = opens;
    else if (opens.startsWith(fence) && line.trim() === opens) fence = "";
    isBlank = line.trim() === "";
    at += line.length + 1;
  }
  if (begun < text.length) blocks.push(text.slice(begun));
  return blocks;
}
