import { useCallback, useEffect, useState } from "react";

import type { Schemas } from "../api/contract";
import { request } from "../api/http";
import { useApp } from "../state/app";
import { language, strings } from "../strings";
import { Button } from "../ui/Button";

type User = Schemas["UserEntry"];
type NewToken = Schemas["NewToken"];

const SCOPES = ["read", "build", "run", "admin"] as const;
const USUAL: readonly string[] = ["read", "build", "run"];
const PATH = "/api/v1/users";

/** The users of the installation: added, given another token, and shut out. A token is shown once. */
export function UsersView() {
  const fail = useApp((app) => app.fail);
  const [users, setUsers] = useState<User[] | null>(null);
  const [given, setGiven] = useState<NewToken | null>(null);
  const load = useCallback(() => request<{ users: User[] }>("GET", `${PATH}?limit=200`).then((page) => setUsers(page.users)), []);
  useEffect(() => {
    load().catch(fail);
  }, [load, fail]);
  const rotate = async (user: User) => {
    setGiven(await request<NewToken>("POST", `${PATH}/${encodeURIComponent(user.name)}/rotate`, { json: {} }));
    await load();
  };
  const revoke = async (user: User) => {
    await request("POST", `${PATH}/${encodeURIComponent(user.name)}/revoke`, { json: {} });
    await load();
  };
  const when = (at: string | null) => (at === null ? strings.never : new Date(at).toLocaleDateString(language(), { dateStyle: "medium" }));
  return (
    <section aria-labelledby="users">
      <h2 id="users">{strings.users}</h2>
      <p className="hint">{strings.usersHint}</p>
      {given !== null && <TokenOnce given={given} onClose={() => setGiven(null)} />}
      {users?.length === 0 && <p className="hint">{strings.noUsers}</p>}
      {users !== null && users.length > 0 && (
        <div className="scroll-x" tabIndex={0} role="group" aria-label={strings.users}>
          <table>
            <thead>
              <tr>
                <th scope="col">{strings.name}</th>
                <th scope="col">{strings.scopes}</th>
                <th scope="col">{strings.expires}</th>
                <th scope="col">{strings.state}</th>
                <th scope="col">{strings.actions}</th>
              </tr>
            </thead>
            <tbody>
              {users.map((user) => (
                <tr key={user.id}>
                  <td>{user.name}</td>
                  <td>{user.scopes.map((scope) => strings.scopeNames[scope]).join(", ")}</td>
                  <td>{when(user.expires_at)}</td>
                  <td>
                    <span className={`badge ${user.state === "active" ? "good" : "bad"}`}>{strings.userStates[user.state]}</span>
                  </td>
                  <td>
                    <div className="row">
                      <Button aria-label={`${strings.newToken}: ${user.name}`} onClick={() => void rotate(user).catch(fail)}>
                        {strings.newToken}
                      </Button>
                      {user.state !== "revoked" && (
                        <Button
                          look="danger"
                          aria-label={`${strings.revoke}: ${user.name}`}
                          onClick={() => {
                            if (window.confirm(strings.revokeQuestion(user.name))) void revoke(user).catch(fail);
                          }}
                        >
                          {strings.revoke}
                        </Button>
                      )}
                    </div>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <NewUserForm
        onAdded={(added) => {
          setGiven(added);
          load().catch(fail);
        }}
      />
    </section>
  );
}

function TokenOnce({ given, onClose }: { given: NewToken; onClose: () => void }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <div className="card token" role="group" aria-label={strings.tokenOf(given.user.name)}>
      <strong>{strings.tokenOf(given.user.name)}</strong>
      <p role="status">{strings.tokenOnce}</p>
      <output className="code">{given.token}</output>
      <div className="row">
        <Button look="primary" onClick={() => void navigator.clipboard.writeText(given.token).then(() => setCopied(true), () => setCopied(false))}>
          {isCopied ? strings.copied : strings.copy}
        </Button>
        <Button onClick={onClose}>{strings.close}</Button>
      </div>
    </div>
  );
}

function NewUserForm({ onAdded }: { onAdded: (added: NewToken) => void }) {
  const fail = useApp((app) => app.fail);
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly string[]>(USUAL);
  const [days, setDays] = useState("");
  return (
    <form
      className="stack card"
      onSubmit={(event) => {
        event.preventDefault();
        const json = { name: name.trim(), scopes, days: days === "" ? null : Number(days) };
        request<NewToken>("POST", PATH, { json }).then((added) => {
          setName("");
          setDays("");
          setScopes(USUAL);
          onAdded(added);
        }, fail);
      }}
    >
      <h3>{strings.addUser}</h3>
      <label>
        {strings.name}
        <input value={name} autoComplete="off" onChange={(event) => setName(event.target.value)} />
      </label>
      <fieldset className="row">
        <legend>{strings.scopes}</legend>
        {SCOPES.map((scope) => (
          <label key={scope} className="check">
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={(event) => setScopes(event.target.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))}
            />{" "}
            {strings.scopeNames[scope]}
          </label>
        ))}
      </fieldset>
      <label>
        {strings.expiresIn}
        <input type="number" min={1} max={3650} placeholder={strings.never} value={days} onChange={(event) => setDays(event.target.value)} />
      </label>
      <div className="row">
        <Button type="submit" look="primary" disabled={name.trim() === "" || scopes.length === 0}>
          {strings.addUser}
        </Button>
      </div>
    </form>
  );
}
