/** The operations of the system call filter. */

import { MESSAGES, type OpArgs } from "../../shared/protocol/index.ts";
import { refusesUnknownCalls, refuseUnknownCalls } from "../config/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { notifyListener, prepareFilter as prepare } from "../seccomp/index.ts";
import type { Execution } from "./execution.ts";
import { send } from "./rendezvous.ts";

export function prepareFilter({ asked: { root }, made: { record, warnings } }: Execution, args: OpArgs<"seccomp.prepare">): void {
  const unknown = prepare(root, args);
  if (unknown.length === 0) return;
  if (refusesUnknownCalls(record.annotations)) refuseUnknownCalls(unknown.join(", "));
  warnings.push(`linux.seccomp: unknown system calls are ignored: ${unknown.join(", ")}`);
}

export function sendFilter(execution: Execution, { path }: OpArgs<"seccomp.send">): void {
  const fd = host.open(path, host.O.RDONLY | host.O.NOFOLLOW);
  send(execution, MESSAGES.filter, fd);
  host.close(fd);
}

export function notify({ made: { record }, running }: Execution, { path, metadata }: OpArgs<"seccomp.notify">): void {
  const { listener, pid } = running;
  if (listener === undefined) throw new RuntError("operation", "seccomp.notify: init sent no listener");
  const { ociVersion, id, bundle, annotations } = record;
  const creating = record.phase === "creating";
  const status = creating ? "creating" : "running";
  notifyListener(path, metadata, listener, { ociVersion, id, bundle, annotations, status, pid, containerPid: creating ? pid : record.pid });
  host.close(listener);
  delete running.listener;
}
