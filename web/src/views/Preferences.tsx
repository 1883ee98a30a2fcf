import { useState } from "react";

import { pressed } from "../assistant/shortcut";
import { kept } from "../state/kept";
import { useApp } from "../state/app";
import { language, strings } from "../strings";
import { Button } from "../ui/Button";

const LANGUAGES = { en: "English", de: "Deutsch", pt: "Português" };

/** What this browser remembers of the user's wishes: the language, and the keys that go to the message field. */
export function Preferences() {
  const signOut = useApp((app) => app.signOut);
  const [keys, setKeys] = useState(kept.shortcut);
  return (
    <section aria-labelledby="preferences">
      <h2 id="preferences">{strings.views.settings}</h2>
      <div className="stack">
        <label>
          {strings.language}
          <select
            value={language()}
            onChange={(event) => {
              kept.language = event.target.value;
              location.reload();
            }}
          >
            {Object.entries(LANGUAGES).map(([code, name]) => (
              <option key={code} value={code} lang={code}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          {strings.shortcut}
          <input
            readOnly
            value={keys}
            aria-describedby="shortcut-hint"
            onKeyDown={(event) => {
              const found = pressed(event.nativeEvent);
              if (found === null) return;
              event.preventDefault();
              kept.shortcut = found;
              setKeys(found);
            }}
          />
        </label>
        <p className="hint" id="shortcut-hint">
          {strings.shortcutHint}
        </p>
      </div>
      <p>
        <Button onClick={() => void signOut()}>{strings.signOut}</Button> <span className="hint">{strings.signOutHint}</span>
      </p>
      {kept.isBlocked && <p className="notice-line">{strings.storageBlocked}</p>}
    </section>
  );
}
