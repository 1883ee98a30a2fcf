import { language } from "../strings";

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

/** A size in the largest unit that leaves a whole number before the point. */
export function bytesText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const unit = UNITS[step] ?? "byte";
  return (bytes / 1000 ** step).toLocaleString(language(), { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: 1 });
}
