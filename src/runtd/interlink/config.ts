/** Settings of interLink. */
import { isAbsolute } from "node:path";
import type { ClusterRules } from "../../pod/index.ts";
import type { Settings } from "../options.ts";
import { oneOf } from "../values.ts";
import { readToken } from "./guard.ts";

export interface InterlinkConfiguration {
  readonly rules: ClusterRules;
  /** undefined: listen on the socket interlink.sock. */
  readonly listen:
    | { readonly address: string; readonly port: number; readonly token: string; readonly hosts: readonly string[] }
    | undefined;
}

const NEED_INTERLINK = ["interlink-listen", "interlink-token", "interlink-host", "interlink-host-path", "interlink-network"] as const;

/** undefined: interLink is disabled. @throws Error: the options are wrong; the errors of node:fs */
export function interlinkSettingsOf(values: Settings): InterlinkConfiguration | undefined {
  const { "interlink-listen": place, "interlink-token": file, "interlink-host": names = [] } = values;
  const { "interlink-host-path": hostPaths = [] } = values;
  if (!values.interlink) {
    const given = NEED_INTERLINK.find((name) => values[name] !== undefined);
    if (given !== undefined) throw new Error(`--${given} needs --interlink`);
    return undefined;
  }
  const relative = hostPaths.find((path) => !isAbsolute(path));
  if (relative !== undefined) throw new Error(`--interlink-host-path ${relative}: is no absolute path`);
  const rules: ClusterRules = {
    hostPaths,
    network: oneOf("interlink-network", values["interlink-network"], ["bridge", "none"]) ?? "bridge",
  };
  if (place === undefined) {
    if (file !== undefined || names.length > 0)
      throw new Error("a token and names are for --interlink-listen: the mode of the socket says who may connect");
    return { rules, listen: undefined };
  }
  const [, address = "", port = ""] = /^(?:\[([0-9a-f:]+)\]|([^:]+)):(\d+)$/i.exec(place)?.filter((part) => part !== undefined) ?? [];
  const number = Number(port);
  if (address === "" || !Number.isInteger(number) || number < 1 || number > 65_535)
    throw new Error(`--interlink-listen ${place}: write ADDRESS:PORT`);
  if (file === undefined) throw new Error("--interlink-listen needs --interlink-token FILE");
  return { rules, listen: { address, port: number, token: readToken(file), hosts: [place, ...names] } };
}
