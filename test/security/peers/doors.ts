/** Attacks on what listens: the API of Docker, which both peers have on a socket. Who may use it is root's equal; there is no socket for readers alone. */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { inputOf } from "../../fuzz-doors/inputs.ts";
import { randomOf } from "../../fuzz-doors/random.ts";
import { finding, type Peer, type PeerAttack } from "./peer.ts";

const TARGETS = ["//[", "//", "///", "*", "/%", "/%00", "http://[/info", "http://x:99999999/", "http:///info", "x:y"].concat(
  ["/containers/%ff/attach", "/containers/%/exec?all=%", "/containers/a%2f..%2fb/attach", "/events?since=1e999", "/events?since=-1"],
  [`/containers/${"a".repeat(8000)}/json`, "/containers/t/logs?tail=1e999&stdout=1", "/v1.41//[", "/v999.9/info"],
);
const UPGRADE = "Host: x\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n";
const RESTS = [UPGRADE, "Host: x\r\nConnection: close\r\n\r\n", "Host: [\r\nConnection: close\r\n\r\n"];
/** The doors of runtd, and those of the peers that are like them. */
const DOORS: readonly (readonly [of: RegExp, instead: string])[] = [
  [/\/v1\/tasks\/t\/forward/g, "/containers/t/top"],
  [/\/v1\/tasks\/t\/detail/g, "/containers/t/json"],
  [/\/v1\/tasks\/t\//g, "/containers/t/"],
  [/\/v1\/tasks/g, "/containers/json"],
  [/\/v1\/(apply|plan)/g, "/containers/create"],
  [/\/v1\/(stop|restart|delete)/g, "/containers/t/$1"],
  [/\/v1\/images\/pull/g, "/images/create?fromSrc=-"],
  [/\/v1\/images/g, "/images/json"],
  [/\/v1\/node/g, "/info"],
  [/\/v1\//g, "/"],
  [/runtd-stream\/1/g, "tcp"],
];
const INPUTS = 1500;
const SEED = 7;
/** As many as runtd has places for. */
const STREAMS = 128;
const ANSWER_MS = 30_000;
const READERS = 200;
const LOG_MIB = 32;
/** Lines of a KiB. */
const TALKS = `s=yyyyyyyy; for i in 1 2 3 4 5 6 7; do s=$s$s; done; i=0; while [ $i -lt ${LOG_MIB << 10} ]; do echo $s; i=$((i + 1)); done`;
const READERS_OF_LOGS = 20;

/** Whether the process that had the socket still has it, and answers. */
async function goesOn(peer: Peer, pid: number): Promise<boolean> {
  return peer.pid === pid && (await peer.answers());
}

export const targets: PeerAttack = async (peer) => {
  const { pid } = peer;
  const statuses: number[] = [];
  for (const target of TARGETS)
    for (const rest of RESTS) {
      const received = await peer.send(`GET ${target} HTTP/1.1\r\n${rest}`, 300);
      statuses.push(Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? 0));
    }
  const of5xx = statuses.filter((status) => status >= 500).length;
  return finding(await goesOn(peer, pid), `${statuses.length} requests, ${of5xx} of them answered with 5xx`);
};

export const hostileInput: PeerAttack = async (peer) => {
  const { pid } = peer;
  const random = randomOf(SEED);
  for (let count = 0; count < INPUTS; count++) {
    const text = DOORS.reduce((all, [of, instead]) => all.replace(of, instead), inputOf(random).bytes.toString("latin1"));
    await peer.send(Buffer.from(text, "latin1"), 20);
  }
  return finding(await goesOn(peer, pid), `${INPUTS} inputs, seed ${SEED}`);
};

function opened(peer: Peer, text: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(peer.socket);
    socket.once("data", () => resolve(socket.setTimeout(0)));
    socket.once("error", reject);
    socket.setTimeout(ANSWER_MS, () => reject(new Error("no answer to a request for a stream")));
    socket.write(text);
  });
}

export const silentConnections: PeerAttack = async (peer) => {
  await peer.running("silent");
  const request = `POST /containers/silent/attach?stream=1&stdin=1&stdout=1 HTTP/1.1\r\n${UPGRADE}`;
  const sockets = await Promise.all(Array.from({ length: STREAMS }, () => opened(peer, request)));
  const { status } = await peer.client("exec", "silent", "true");
  await sleep(10_000);
  const open = sockets.filter(({ destroyed }) => !destroyed).length;
  for (const socket of sockets) socket.destroy();
  await peer.ok("rm", "-f", "silent");
  return finding(status === 0, `\`exec\` works beside ${STREAMS}; ${open} of them are open after 10 s: there is no bound`);
};

export const placesOfReaders: PeerAttack = async (peer) => {
  const open: Socket[] = [];
  for (let count = 0; count < READERS; count++) open.push(await opened(peer, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n").catch(silent));
  const taken = open.filter(({ destroyed }) => !destroyed).length;
  const isAnswered = await peer.answers();
  for (const socket of open) socket.destroy();
  return finding(isAnswered, `${taken} of ${READERS} streams of events are open, and others are answered: there is no bound`);
};

/** One that was refused. */
function silent(): Socket {
  return connect("/dev/null")
    .on("error", () => {})
    .destroy();
}

export const unreadAnswers: PeerAttack = async (peer) => {
  await peer.running("talks", ["--network", "none"], TALKS);
  await peer.ok("wait", "talks");
  const before = residentMiB(peer.pid);
  const sockets = Array.from({ length: READERS_OF_LOGS }, () => {
    const socket = connect(peer.socket).on("error", () => {});
    socket.write("GET /containers/talks/logs?stdout=1 HTTP/1.1\r\nHost: x\r\n\r\n");
    return socket.pause();
  });
  await sleep(5000);
  const grown = Math.max(0, residentMiB(peer.pid) - before);
  const isAnswered = await peer.answers();
  const open = sockets.filter(({ destroyed }) => !destroyed).length;
  for (const socket of sockets) socket.destroy();
  const asked = READERS_OF_LOGS * LOG_MIB;
  const detail = `of ${asked} MiB of logs that ${READERS_OF_LOGS} ask for, ${grown} MiB are in memory after 5 s; ${open} connections are open`;
  return finding(isAnswered && grown < asked / 2, detail);
};

function residentMiB(pid: number): number {
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024);
}
