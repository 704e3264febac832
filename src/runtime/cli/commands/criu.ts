/** checkpoint and restore. */
import { RuntError } from "../../errors/index.ts";
import type { CriuFlags } from "../../execute/index.ts";
import * as host from "../../host/index.ts";
import * as verbs from "../../verbs/index.ts";
import { absolutePath, text, texts, type Verb, type VerbContext } from "../context.ts";
import { createOptions } from "../create-options.ts";

export const checkpoint: Verb = (context) => {
  const { flags, options, positionals } = context;
  const parentPath = text(flags["parent-path"]);
  const pageServer = text(flags["page-server"]);
  const statusFd = flags["status-fd"];
  verbs.checkpoint(options, positionals[0]!, {
    ...criuFlags(context),
    leaveRunning: flags["leave-running"] === true,
    preDump: flags["pre-dump"] === true,
    tcpSkipInFlight: flags["tcp-skip-in-flight"] === true,
    ...(parentPath && { parentPath }),
    ...(pageServer && { pageServer: addressOf(pageServer) }),
    ...(typeof statusFd === "number" && { statusFd: openStatus(statusFd) }),
  });
  return 0;
};

/** HOST:PORT; an IPv6 address may stand in brackets. */
function addressOf(value: string): { readonly address: string; readonly port: number } {
  const match = /^(?:\[(.+)\]|(.*)):(\d{1,5})$/.exec(value);
  const port = Number(match?.[3]);
  if (!match || port > 0xffff) throw new RuntError("usage", `invalid value "${value}" for flag -page-server: use ADDRESS:PORT`);
  return { address: match[1] ?? match[2] ?? "", port };
}

function openStatus(fd: number): number {
  if (!host.fdIsOpen(fd)) throw new RuntError("usage", `--status-fd ${fd}: bad file descriptor`);
  return fd;
}

export const restore: Verb = (context) => {
  const { flags, options, positionals, globalWords } = context;
  const id = positionals[0]!;
  const [lsmProfile, lsmMountContext] = [text(flags["lsm-profile"]), text(flags["lsm-mount-context"])];
  verbs.restore(
    options,
    createOptions(context, id, "run"),
    { ...criuFlags(context), ...(lsmProfile && { lsmProfile }), ...(lsmMountContext && { lsmMountContext }) },
    {
      keep: false,
      subreaper: flags["no-subreaper"] !== true,
      made: ({ made: { record, demanded } }) => context.warned({ warnings: record.warnings, demanded }),
      deleteCommand: [host.argv()[0] ?? "runt", ...globalWords, "delete", "--force"],
    },
  );
  return 0;
};

const DEFAULT_IMAGES = "checkpoint";
const MODES = ["soft", "full", "strict", "ignore"] as const;
const LOCKS = ["iptables", "nftables", "skip"] as const;

/** The flags that both share. */
function criuFlags({ flags, criu }: VerbContext): CriuFlags {
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
