/** Docker's networks: none, the host's, a bridge with names. */
import { IMAGE } from "../engine.ts";
import { engine, host, type Scenario } from "../scenario.ts";
import { detached, run, SECOND, SLEEP, shell } from "./client-steps.ts";

/** Answers every request with its own name. */
const SERVER = ["sh", "-c", "mkdir /www; hostname > /www/name; httpd -f -p 80 -h /www"];

export const network: readonly Scenario[] = [
  {
    name: "network: none and host",
    steps: [
      run(["--network", "none"], ["ip", "link"], { stdout: /: lo: <LOOPBACK,UP/, not: /eth0/ }),
      host("test $({engine} run --rm --network host {image} readlink /proc/self/ns/net) = $(readlink /proc/self/ns/net)"),
    ],
  },
  {
    name: "network: bridge",
    steps: [
      shell([], "ip -4 addr show eth0; ip route", { stdout: [/inet 172\./, /default via 172\./] }),
      shell(["--add-host", "box:192.0.2.1", "--mac-address", "02:42:ac:11:00:99"], "cat /etc/hosts; ip link show eth0", {
        stdout: [/192\.0\.2\.1\s+box/, /02:42:ac:11:00:99/],
      }),
    ],
  },
  {
    name: "network: a published port",
    steps: [
      detached(["-p", "127.0.0.1:18080:80", "--hostname", "published"], SERVER),
      host(
        "exec 3<>/dev/tcp/127.0.0.1/18080; printf 'GET /name HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3".replace(/^(.*)$/, 'bash -c "$1"'),
        {
          stdout: /^published$/m,
        },
        { within: 5 * SECOND },
      ),
    ],
  },
  {
    name: "network: of another container",
    steps: [
      detached(["--hostname", "first"]),
      host(
        "test $({engine} exec {id} readlink /proc/self/ns/net) = $({engine} run --rm --network container:{id} {image} readlink /proc/self/ns/net)",
      ),
    ],
  },
  {
    name: "network: two services find each other",
    steps: [
      engine(["network", "create", "{id}"]),
      engine([
        "run",
        "-d",
        "--network",
        "{id}",
        "--name",
        "{id}-a",
        "--network-alias",
        "first",
        "--hostname",
        "name-of-first",
        IMAGE,
        ...SERVER,
      ]),
      engine([
        "run",
        "-d",
        "--network",
        "{id}",
        "--name",
        "{id}-b",
        "--network-alias",
        "second",
        "--hostname",
        "name-of-second",
        IMAGE,
        ...SERVER,
      ]),
      engine(["exec", "{id}-b", "wget", "-qO-", "http://first/name"], { stdout: /^name-of-first$/m }, { within: 5 * SECOND }),
      engine(["exec", "{id}-a", "wget", "-qO-", "http://second/name"], { stdout: /^name-of-second$/m }, { within: 5 * SECOND }),
      engine(["exec", "{id}-a", "wget", "-qO-", "http://{id}-b/name"], { stdout: /^name-of-second$/m }),
    ],
  },
  {
    name: "network: connect and disconnect a running one",
    notInMachines: "an interface that comes later is not in the machine",
    steps: [
      engine(["network", "create", "{id}"]),
      engine(["run", "-d", "--name", "{id}-a", IMAGE, ...SLEEP]),
      engine(["network", "connect", "{id}", "{id}-a"]),
      engine(["exec", "{id}-a", "ip", "link"], { stdout: /eth1/ }),
      engine(["network", "disconnect", "{id}", "{id}-a"]),
      engine(["exec", "{id}-a", "ip", "link"], { not: /eth1/ }),
    ],
  },
];
