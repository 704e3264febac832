/** The flags that checkpoint and restore share. */

import { RuntError } from "../errors/index.ts";
import type { CriuFlags } from "../execute/index.ts";
import { absolutePath, text, texts, type VerbContext } from "./context.ts";

const DEFAULT_IMAGES = "checkpoint";
const MODES = ["soft", "full", "strict", "ignore"] as const;
const LOCKS = ["iptables", "nftables", "skip"] as const;

export function criuFlags({ flags, criu }: VerbContext): CriuFlags {
  const imagePath = absolutePath(text(flags["image-path"]) || DEFAULT_IMAGES);
  const work = text(flags["work-path"]);
  const networkLock = choice("network-lock", text(flags["network-lock"]), LOCKS);
  for (const name of texts(flags["empty-ns"])) choice("empty-ns", name, ["network"]);
  return {
    ...(criu !== undefined && { criu: criu.includes("/") ? absolutePath(criu) : criu }),
    imagePath,
    workPath: work ? absolutePath(work) : imagePath,
    tcpEstablished: flags["tcp-established"] === true,
    tcpClose: flags["tcp-close"] === true,
    externalUnixSockets: flags["ext-unix-sk"] === true,
    shellJob: flags["shell-job"] === true,
    fileLocks: flags["file-locks"] === true,
    linkRemap: flags["link-remap"] === true,
    autoDedup: flags["auto-dedup"] === true,
    lazyPages: flags["lazy-pages"] === true,
    cgroupMode: choice("manage-cgroups-mode", text(flags["manage-cgroups-mode"]), MODES) ?? "soft",
    ...(networkLock !== undefined && { networkLock }),
  };
}

/** One of a fixed set; undefined when it is not given. */
function choice<T extends string>(flag: string, value: string | undefined, allowed: readonly T[]): T | undefined {
  if (value === undefined || value === "") return undefined;
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new RuntError("usage", `invalid value "${value}" for flag -${flag}: use ${allowed.join(", ")}`);
  return found;
}
