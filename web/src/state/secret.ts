/** Whether a text may hold a key or a password, so that the browser does not remember it. It rather errs towards yes. */

const RANDOM = /(?=[^\s"'`]*\d)(?=[^\s"'`]*[A-Za-z])[^\s"'`]{16,}/;
const NAMED = /pass(?:word|wd|wort|phrase)|kennwort|senha|contraseña|secret|geheim|segredo|\btoken|\bpin\b|api.?key|schlüssel|chave|clave|\bkey\b/i;

export function mayHoldSecret(text: string): boolean {
  return RANDOM.test(text) || NAMED.test(text);
}
