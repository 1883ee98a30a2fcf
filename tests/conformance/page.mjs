// Runs the script of a page without a browser: node page.mjs PAGE SERVER TOKEN TEXT. Says what the page shows in the end.
import { readFileSync } from "node:fs";
const [page, server, token, text] = process.argv.slice(2);
const source = readFileSync(page, "utf8").match(/<script type="module">(.*?)<\/script>/s)[1];

class Element {
  children = [];
  textContent = "";
  value = "";
  classList = { add() {} };
  replaceChildren(...children) {
    this.children = children;
  }
  get shown() {
    return [this.textContent, ...this.children.map((child) => child.shown)].filter(Boolean).join("\n");
  }
  find(holds) {
    return holds(this) ? this : this.children.map((child) => child.find(holds)).find(Boolean);
  }
}

const elements = new Map();
const at = (id) => elements.get(id) ?? elements.set(id, new Element()).get(id);
globalThis.document = { getElementById: at, createElement: () => new Element() };
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const event = { preventDefault() {} };

await import(`data:text/javascript,${encodeURIComponent(source.replaceAll("http://127.0.0.1:7878", server))}`);
at("token").value = token;
await at("sign-in").onsubmit(event);
at("text").value = text;
await at("send").onsubmit(event);
const chat = at("chat");
const yes = (element) => element.textContent === "Yes";
while (!chat.find(yes)) await pause(10);
console.log(JSON.stringify({ shown: chat.shown }));
chat.find(yes).onclick();
while (chat.find(yes) || !chat.shown.includes("put_flow_on_canvas: output-available")) await pause(10);
await pause(100);
console.log(JSON.stringify({ shown: chat.shown, now: at("now").textContent }));
process.exit(0);
