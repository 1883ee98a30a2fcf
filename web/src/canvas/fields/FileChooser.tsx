import { Upload } from "lucide-react";
import { useCallback, useEffect, useState } from "react";

import type { UserFile } from "../../api/contract";
import { listFiles, uploadFiles } from "../../api/files";
import { labelOf, takesFile } from "../../flow/document";
import { chosenOf } from "../../flow/kinds";
import { useApp } from "../../state/app";
import { strings } from "../../strings";
import { Button } from "../../ui/Button";
import { FilePicker } from "../../ui/FilePicker";
import { Saved } from "./FieldDialog";
import type { EditorProps } from "./FieldDialog";
import { fieldChange } from "./change";

/** The files of the user that a field may take; others are uploaded here. */
export function FileChooser({ node, field, onClose }: EditorProps) {
  const fail = useApp((app) => app.fail);
  const isList = field.list === true || field.is_list === true;
  const [files, setFiles] = useState<UserFile[] | null>(null);
  const [chosen, setChosen] = useState<string[]>(chosenOf(field.value));
  const load = useCallback(() => listFiles().then(setFiles, fail), [fail]);
  useEffect(() => void load(), [load]);
  const types = field.fileTypes ?? [];
  const fits = (path: string) => takesFile(field, path);
  const shown = [...new Set([...chosen, ...(files ?? []).map((one) => one.path).filter(fits)])];
  const pick = (path: string, isChosen: boolean) => setChosen(isChosen ? (isList ? [...chosen, path] : [path]) : chosen.filter((one) => one !== path));
  const upload = async (list: Iterable<File>) => {
    const paths = await uploadFiles(list);
    setChosen(isList ? [...new Set([...chosen, ...paths])] : paths.slice(0, 1));
    await load();
  };
  return (
    <Saved onClose={onClose} onSave={() => fieldChange(node, field, "dialog").now(isList ? chosen : (chosen[0] ?? ""))}>
      {files !== null && shown.length === 0 && <p className="hint">{strings.noFittingFiles(types.join(", "))}</p>}
      <fieldset className="boxes tall">
        <legend className="hidden">{labelOf(field)}</legend>
        {shown.map((path) => (
          <label key={path}>
            <input type={isList ? "checkbox" : "radio"} name="file" checked={chosen.includes(path)} onChange={(event) => pick(path, event.target.checked)} />
            {path}
          </label>
        ))}
      </fieldset>
      <div className="row">
        <FilePicker
          multiple={isList}
          accept={types.map((type) => `.${type.replace(/^\./, "")}`).join(",")}
          icon={<Upload size={14} />}
          onChoose={(list) => void upload(list).catch(fail)}
        >
          {strings.uploadFile}
        </FilePicker>
        {!isList && chosen.length > 0 && <Button onClick={() => setChosen([])}>{strings.chooseNone}</Button>}
      </div>
    </Saved>
  );
}
