/** Translates volumes whose content is part of the file: configMap, secret, downwardAPI, projected. */
import type { TaskInput } from "../../engine/spec/index.ts";
import type { DownwardFile, KeyItem, VolumeInput } from "../schema/volume.ts";
import { fieldValue, resourceValue } from "./downward.ts";
import { entriesOf } from "./env.ts";
import type { ObjectKind } from "./objects.ts";
import type { Path, Translation } from "./translation.ts";

type Files = NonNullable<NonNullable<TaskInput["volumes"]>[number]["files"]>;

interface Keys {
  readonly name: string;
  readonly items?: readonly KeyItem[] | undefined;
  readonly optional: boolean;
}

/** undefined: the volume is of another kind. */
export function filesOf(at: Translation, volume: VolumeInput, path: Path): Files | undefined {
  const { configMap, secret, downwardAPI, projected } = volume;
  if (configMap !== undefined) return keyFiles(at, "ConfigMap", configMap, configMap.defaultMode, [...path, "configMap"]);
  if (secret !== undefined) {
    return keyFiles(at, "Secret", { ...secret, name: secret.secretName }, secret.defaultMode, [...path, "secret"], "secretName");
  }
  if (downwardAPI !== undefined) return downwardFiles(at, downwardAPI.items, downwardAPI.defaultMode, [...path, "downwardAPI"]);
  if (projected === undefined) return undefined;
  const mode = projected.defaultMode;
  const files: Files = {};
  for (const [index, source] of projected.sources.entries()) {
    const here: Path = [...path, "projected", "sources", index];
    const given = Object.values(source).filter((one) => one !== undefined).length;
    if (given !== 1) at.refuse("has to name exactly one source", here);
    const further = {
      ...(source.configMap && keyFiles(at, "ConfigMap", source.configMap, mode, [...here, "configMap"])),
      ...(source.secret && keyFiles(at, "Secret", source.secret, mode, [...here, "secret"])),
      ...(source.downwardAPI && downwardFiles(at, source.downwardAPI.items, mode, [...here, "downwardAPI"])),
    };
    for (const name of Object.keys(further)) if (name in files) at.refuse(`the file ${name} is there twice`, here, "duplicate-name");
    Object.assign(files, further);
  }
  return files;
}

/** @param field the field below `path` that holds the name */
function keyFiles(at: Translation, kind: ObjectKind, ref: Keys, mode: number, path: Path, field = "name"): Files {
  const entries = entriesOf(at, kind, ref, [...path, field]);
  if (entries === undefined) return {};
  if (ref.items === undefined) return Object.fromEntries([...entries].map(([key, content]) => [key, { ...content, mode }]));
  const files: Files = {};
  for (const [index, item] of ref.items.entries()) {
    const content = entries.get(item.key);
    if (content !== undefined) files[item.path] = { ...content, mode: item.mode ?? mode };
    else if (!ref.optional) at.refuse(`${kind} ${ref.name} has no key ${item.key}`, [...path, "items", index, "key"], "unknown-reference");
  }
  return files;
}

function downwardFiles(at: Translation, items: readonly DownwardFile[], defaultMode: number, path: Path): Files {
  const files: Files = {};
  for (const [index, { path: name, fieldRef, resourceFieldRef, mode = defaultMode }] of items.entries()) {
    const here: Path = [...path, "items", index];
    const content =
      fieldRef === undefined
        ? resourceValue(at, undefined, resourceFieldRef!, [...here, "resourceFieldRef"])
        : fieldValue(at, fieldRef, [...here, "fieldRef"], "file");
    if (content !== undefined) files[name] = { content, mode };
  }
  return files;
}
