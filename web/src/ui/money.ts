import { language } from "../strings";

/** Dollars as readers of the page's language write them, to two digits that count. */
export function money(dollars: number): string {
  return dollars.toLocaleString(language(), { style: "currency", currency: "USD", maximumSignificantDigits: 2 });
}
