import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { checkpoint } from "../../verbs/index.ts";
import { text, type Verb } from "../context.ts";
import { criuFlags } from "../criu-flags.ts";

export const verb: Verb = (context) => {
  const { flags, options, positionals } = context;
  const parentPath = text(flags["parent-path"]);
  const pageServer = text(flags["page-server"]);
  const statusFd = flags["status-fd"];
  checkpoint(options, positionals[0]!, {
    ...criuFlags(context),
    leaveRunning: flags["leave-running"] === true,
    preDump: flags["pre-dump"] === true,
    tcpSkipInFlight: flags["tcp-skip-in-flight"] === true,
    ...(parentPath ? { parentPath } : {}),
    ...(pageServer ? { pageServer: addressOf(pageServer) } : {}),
    ...(typeof statusFd === "number" ? { statusFd: openStatus(statusFd) } : {}),
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
