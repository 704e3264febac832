import { findAll, readSize, roleOf, sizeKey } from "../../config/index.ts";
import { pointerToken } from "../../spec/index.ts";
import type { HostCheck } from "../host/host-check.ts";

const at = (key: string): string => `/annotations/${pointerToken(key)}`;
const MIB = 2n ** 20n;
/** A name below the state directory. */
const ID = /^[\w+.-]*[\w+-][\w+.-]*$/;

/** Managers whose sandbox always is a container of the same runtime. CRI-O (and Podman, with its words) may do without one. */
const WITH_CONTAINER: ReadonlySet<string> = new Set(["containerd", "dockershim"]);

/** The sandbox that a container names must exist. */
export const sandboxThere: HostCheck = ({ annotations }, report, { view }) => {
  const [type] = findAll(annotations, "typeKey");
  const [id] = findAll(annotations, "idKey");
  if (!view.live || !type || !id || roleOf(type.value) !== "container" || !WITH_CONTAINER.has(type.manager.name)) return;
  const root = view.facts.caller?.stateRoot;
  if (root === undefined || (ID.test(id.value) && view.stat(`${root}/${id.value}`) !== undefined)) return;
  report.warning("sandbox-gone", at(id.key), `there is no sandbox "${id.value}" below ${root}`);
};

/** A pod that may use more than there is has no limit. */
export const sandboxFits: HostCheck = ({ annotations }, report, { view: { facts } }) => {
  const memory = readSize(annotations, "memory");
  const total = facts.memory?.total ?? 0;
  if (typeof memory !== "bigint" || total === 0 || memory <= BigInt(total) * MIB || memory >= 1n << 62n) return;
  report.advice("sandbox-above-host", at(sizeKey("memory")), `${memory} bytes are more than this host has (${total} MiB)`);
};
