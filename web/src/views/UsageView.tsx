import { useEffect, useState } from "react";

import type { Schemas } from "../api/contract";
import { request } from "../api/http";
import { useApp } from "../state/app";
import { language, strings } from "../strings";

type Row = Schemas["UsageRow"];

/** What was used by day and model, and for an admin by user. */
export function UsageView({ isAdmin }: { isAdmin: boolean }) {
  const fail = useApp((app) => app.fail);
  const [usage, setUsage] = useState<Schemas["UsageReply"] | null>(null);
  const [days, setDays] = useState(30);
  const [isAll, setAll] = useState(false);
  useEffect(() => {
    const from = new Date(Date.now() - (days - 1) * 86_400_000).toISOString().slice(0, 10);
    const asked = new URLSearchParams({ from, by: isAll ? "day,model,user" : "day,model", users: isAll ? "all" : "own" });
    request<Schemas["UsageReply"]>("GET", `/api/v1/usage?${asked.toString()}`).then(setUsage, fail);
  }, [days, isAll, fail]);
  const number = (value: number) => value.toLocaleString(language());
  const money = (value: number | null) =>
    value === null ? "—" : value.toLocaleString(language(), { style: "currency", currency: "USD", maximumFractionDigits: 4 });
  const day = (text: string | undefined | null) => (text == null ? "" : new Date(`${text}T00:00:00`).toLocaleDateString(language(), { dateStyle: "medium" }));
  const key = (row: Row) => [row.day, row.model, row.user].join(" ");
  return (
    <section aria-labelledby="usage">
      <h2 id="usage">{strings.usage}</h2>
      <div className="row">
        <select aria-label={strings.period} value={days} onChange={(event) => setDays(Number(event.target.value))}>
          {[7, 30, 90].map((count) => (
            <option key={count} value={count}>
              {strings.lastDays(count)}
            </option>
          ))}
        </select>
        {isAdmin && (
          <label className="check">
            <input type="checkbox" checked={isAll} onChange={(event) => setAll(event.target.checked)} /> {strings.allUsers}
          </label>
        )}
      </div>
      {usage?.usage.length === 0 && <p className="hint">{strings.noUsage}</p>}
      {usage !== null && usage.usage.length > 0 && (
        <div className="scroll-x" tabIndex={0} role="group" aria-label={strings.usage}>
          <table>
            <thead>
              <tr>
                <th scope="col">{strings.day}</th>
                <th scope="col">{strings.model}</th>
                {isAll && <th scope="col">{strings.user}</th>}
                <th scope="col" className="figure">{strings.tokensSent}</th>
                <th scope="col" className="figure">{strings.tokensReceived}</th>
                <th scope="col" className="figure">{strings.turnsRuns}</th>
                <th scope="col" className="figure">{strings.cost}</th>
              </tr>
            </thead>
            <tbody>
              {usage.usage.map((row) => (
                <tr key={key(row)}>
                  <td>{day(row.day)}</td>
                  <td>{row.model ?? "—"}</td>
                  {isAll && <td>{row.user ?? ""}</td>}
                  <td className="figure">{number(row.input_tokens)}</td>
                  <td className="figure">{number(row.output_tokens)}</td>
                  <td className="figure">{`${number(row.turns)} / ${number(row.runs)}`}</td>
                  <td className="figure">{money(row.cost)}</td>
                </tr>
              ))}
            </tbody>
            <tfoot>
              <tr>
                <th scope="row" colSpan={isAll ? 3 : 2}>{strings.total}</th>
                <td className="figure">{number(usage.total.input_tokens)}</td>
                <td className="figure">{number(usage.total.output_tokens)}</td>
                <td className="figure">{`${number(usage.total.turns)} / ${number(usage.total.runs)}`}</td>
                <td className="figure">{money(usage.total.cost)}</td>
              </tr>
            </tfoot>
          </table>
        </div>
      )}
    </section>
  );
}
