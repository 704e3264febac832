/** A dbus-daemon of the test's own, with its own configuration and socket. */
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PATIENCE_MS } from "./patience.ts";

export const DBUS_DAEMON = ["/usr/bin/dbus-daemon", "/bin/dbus-daemon"].find((path) => existsSync(path));

export interface Daemon {
  /** Path of the socket. */
  readonly socket: string;
  /** Address that also names the abstract socket. */
  readonly abstract: string;
  close(): void;
}

function accepts(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ path });
    socket.once("error", () => done(false));
    socket.once("connect", () => {
      socket.destroy();
      done(true);
    });
  });
}

/** Everybody may do everything; `auth`: the one mechanism it offers. */
export async function startDaemon(directory: string, auth = "EXTERNAL"): Promise<Daemon> {
  const name = `bus-${auth.toLowerCase()}`;
  const socket = join(directory, `${name}.sock`);
  const abstract = `runt-test-${process.pid}-${basename(directory)}-${name}`;
  const config = join(directory, `${name}.conf`);
  writeFileSync(
    config,
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <listen>unix:path=${socket}</listen>
  <listen>unix:abstract=${abstract}</listen>
  <auth>${auth}</auth>
  <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/><allow user="*"/></policy>
</busconfig>`,
  );
  const child = spawn(DBUS_DAEMON ?? "dbus-daemon", [`--config-file=${config}`, "--nofork", "--nosyslog"], { stdio: "ignore" });
  // Between bind(2) and listen(2) the socket is there, and refuses.
  for (const end = Date.now() + PATIENCE_MS; !(await accepts(socket)); ) {
    if (Date.now() > end || child.exitCode !== null) throw new Error("dbus-daemon does not start");
    await sleep(25);
  }
  return { socket, abstract, close: () => child.kill("SIGTERM") };
}
