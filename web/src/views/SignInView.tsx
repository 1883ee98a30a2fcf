import { useState } from "react";

import { useApp } from "../state/app";
import { strings } from "../strings";
import { Button } from "../ui/Button";

/** Signing in with a token; the link that the server prints does it alone.
 * @param hint - how it is done.
 */
export function SignInView({ hint = strings.signInHint }: { hint?: string }) {
  const signIn = useApp((app) => app.signIn);
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  return (
    <main className="sign-in">
      <h1>Wirewright</h1>
      <p>{strings.signedOut}</p>
      <p>{hint}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void signIn(token.trim()).then(setProblem);
        }}
      >
        <label htmlFor="token">{strings.token}</label>
        <input id="token" type="password" autoComplete="current-password" value={token} onChange={(event) => setToken(event.target.value)} />
        <Button type="submit" look="primary" disabled={token.trim() === ""}>
          {strings.signIn}
        </Button>
        <p role="alert" className="error">
          {problem}
        </p>
      </form>
    </main>
  );
}
