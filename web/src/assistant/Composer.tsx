import { Paperclip, SendHorizontal, Square, X } from "lucide-react";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "react";

import { happened } from "../api/measured";
import { idOf, isNote, nodesOf, titleOf } from "../flow/document";
import { useAssistant } from "../state/assistant";
import { useApp } from "../state/app";
import { useFlow } from "../state/flow";
import { kept } from "../state/kept";
import { useDraft } from "../state/draft";
import { useSelection } from "../state/selection";
import { strings } from "../strings";
import { Button } from "../ui/Button";
import { FilePicker } from "../ui/FilePicker";
import { DEMO, USUAL, modelChoices, modelMeant, usualModel } from "./models";
import { Suggestions } from "./Suggestions";
import { commandOf, completionsOf, modelWritten } from "./commands";
import type { Command } from "./commands";
import { choicesFor, mentionAt, withChoice, withMentions } from "./mentions";
import { recalled } from "./recall";
import type { Recall } from "./recall";
import { uploaded } from "./uploads";

const NOTHING: Recall = { at: null, draft: "" };

/** The field to write in: Enter sends, Shift+Enter breaks the line, arrows at its ends recall earlier messages. */
export function Composer() {
  const { refused, takeBack, turn, send, stop, startNew, tell, applies, skipAll, model, choose: chooseModel } = useAssistant();
  const { fail, config } = useApp();
  const flow = useFlow((state) => state.history.present);
  const isOpen = useFlow((state) => state.id !== null);
  const place = useApp((app) => (app.place.view === "flow" ? app.place.id : ""));
  const selection = useSelection();
  const selected = selection.isLeftOut ? [] : nodesOf(flow).filter((node) => !isNote(node) && selection.nodes.includes(idOf(node)));
  const [{ text, files }, setDraft] = useDraft(place, selected.map(idOf).join("\n"), isOpen);
  const setText = (next: string) => setDraft((draft) => ({ ...draft, text: next }));
  const setFiles = (change: (before: string[]) => string[]) => setDraft((draft) => ({ ...draft, files: change(draft.files) }));
  const [cursor, setCursor] = useState(0);
  const [placed, setPlaced] = useState<{ at: number } | null>(null);
  const [active, setActive] = useState(0);
  const [isListed, setListed] = useState(true);
  const [recall, setRecall] = useState<Recall>(NOTHING);
  const field = useRef<HTMLTextAreaElement>(null);
  const listId = useId();

  const mention = mentionAt(text, cursor);
  const choices = mention === null ? [] : choicesFor(flow, mention);
  const commands = completionsOf(text);
  const wantedModel = modelWritten(text);
  const models = wantedModel === null || config === null ? [] : modelChoices(wantedModel, config, kept.namedModels);
  const items = !isListed
    ? []
    : commands.length > 0
      ? commands.map((command) => ({ key: command, text: command, detail: strings.commands[command] }))
      : wantedModel !== null
        ? models.map(({ value, label }) => ({ key: value, text: value, detail: value === USUAL && config !== null ? usualModel(config) : value === DEMO ? strings.demo : label }))
      : choices.map((choice) => ({ key: choice.token, text: choice.label, detail: choice.token.trim() }));

  const pointed = items.length > 0 && commands.length === 0 && wantedModel === null ? (choices[active]?.node ?? null) : null;
  useEffect(() => {
    useFlow.getState().point(pointed);
    return () => useFlow.getState().point(null);
  }, [pointed]);

  useLayoutEffect(() => {
    if (placed !== null) field.current?.setSelectionRange(placed.at, placed.at); // before the next key, however fast it comes
  }, [placed]);
  const write = (next: string, at = next.length) => {
    setText(next);
    setCursor(at);
    setActive(0);
    setListed(true);
    setPlaced({ at });
  };
  const choose = (at: number) => {
    const [command, offer, choice] = [commands[at], models[at], choices[at]];
    if (command !== undefined) write(command === "/model" ? "/model " : command);
    else if (offer !== undefined) write(`/model ${offer.value}`);
    else if (mention !== null && choice !== undefined) write(...withChoice(text, cursor, mention, choice));
  };
  const run = (command: Command) => {
    if (command === "/new") startNew();
    else if (command === "/skip-all") {
      skipAll(applies === "ask");
      tell(applies === "ask" ? strings.skipAllOn : strings.skipAllOff);
    } else if (command === "/help") tell(strings.help);
    else if (command === "/model") take("");
    else send(command.slice(1)).catch(fail);
  };
  const take = (name: string) => {
    if (config === null) return;
    const shown = (one: string | null) => (one === null ? strings.usual(usualModel(config)) : one === DEMO ? strings.demo : one);
    const meant = name === "" ? undefined : modelMeant(name, config, kept.namedModels);
    if (name === "") tell(`${strings.answers(shown(model))} ${strings.modelHint}`);
    else if (meant === undefined) tell(`${strings.noSuchModel(name)} ${strings.modelHint}`);
    else {
      if (meant !== null && meant !== DEMO) kept.nameModel(meant);
      chooseModel(meant);
      tell(strings.answersFromNow(shown(meant)));
    }
  };
  useEffect(() => {
    if (refused === null) return;
    setDraft((draft) => ({ text: [refused.text, draft.text].filter(Boolean).join("\n"), files: [...new Set([...refused.files, ...draft.files])] }));
    takeBack();
  }, [refused, takeBack, setDraft]);
  const submit = () => {
    const wanted = text.trim();
    if (wanted === "") return;
    kept.keepInput(wanted);
    write("");
    setRecall(NOTHING);
    const command = commandOf(wanted);
    if (command !== null) {
      run(command);
      return;
    }
    const named = modelWritten(wanted);
    if (named !== null) {
      take(named);
      return;
    }
    setFiles(() => []);
    send(withMentions(wanted, selected.map(idOf)), files).catch(fail);
  };
  const upload = (chosen: Iterable<File>) => {
    uploaded(chosen).then((paths) => setFiles((before) => [...new Set([...before, ...paths])]), fail);
  };
  const onKeyDown = (event: React.KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (items.length > 0 && (step !== undefined || ["Tab", "Enter", "Escape"].includes(event.key))) {
      event.preventDefault();
      if (step !== undefined) setActive((active + step + items.length) % items.length);
      else if (event.key === "Escape") setListed(false);
      else choose(active);
      return;
    }
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      submit();
      return;
    }
    if (step === undefined) return;
    const { selectionStart, selectionEnd, value } = event.currentTarget;
    const found = recalled(step < 0 ? "up" : "down", value, [selectionStart, selectionEnd], recall, kept.inputs);
    if (found === null) return;
    event.preventDefault();
    happened({ name: "assistant.input_history.recall", direction: step < 0 ? "up" : "down", pointer: found.recall.at ?? kept.inputs.length });
    write(found.text);
    setListed(false);
    setRecall(found.recall);
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        if (event.dataTransfer.files.length > 0) upload(event.dataTransfer.files);
      }}
    >
      {(files.length > 0 || selected.length > 0) && (
        <ul className="chips" aria-label={strings.sentAlong}>
          {selected.length > 0 && (
            <li className="mention" dir="auto">
              {selected.length > 3 ? strings.selectedCount(selected.length) : selected.map(titleOf).join(", ")}
              <Button label={strings.leaveOutSelection} icon={<X size={12} />} onClick={selection.leaveOut} />
            </li>
          )}
          {files.map((path) => (
            <li key={path}>
              <bdi>{path}</bdi>
              <Button label={`${strings.remove}: ${path}`} icon={<X size={12} />} onClick={() => setFiles((before) => before.filter((one) => one !== path))} />
            </li>
          ))}
        </ul>
      )}
      {items.length > 0 && <Suggestions id={listId} label={strings.suggestions} items={items} active={active} onChoose={choose} />}
      <textarea
        ref={field}
        id="message"
        aria-label={strings.input}
        aria-autocomplete="list"
        aria-controls={items.length > 0 ? listId : undefined}
        aria-activedescendant={items.length > 0 ? `${listId}-${active}` : undefined}
        rows={3}
        value={text}
        dir="auto"
        placeholder={strings.placeholder}
        onChange={(event) => {
          setText(event.target.value);
          setCursor(event.target.selectionStart);
          setActive(0);
          setListed(true);
          setRecall(NOTHING);
        }}
        onSelect={(event) => setCursor(event.currentTarget.selectionStart)}
        onKeyDown={onKeyDown}
      />
      <div className="row">
        <FilePicker multiple label={strings.attach} icon={<Paperclip size={16} />} onChoose={upload} />
        <label className="skip">
          <input type="checkbox" checked={applies === "always"} onChange={(event) => skipAll(event.target.checked)} /> {strings.skipAll}
        </label>
        {turn !== null && <Button label={strings.stop} icon={<Square size={16} />} onClick={() => void stop().catch(fail)} />}
        <Button type="submit" look="primary" label={strings.send} icon={<SendHorizontal size={16} />} disabled={text.trim() === ""} />
      </div>
    </form>
  );
}
