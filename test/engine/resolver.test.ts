/** Names that a resolver answers (aardvark-dns): what tasks ask it, what it does not tell, and what becomes of it. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { processesIn, useNetworkHost } from "./network-host.ts";
import { noResolver } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until as untilIt, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

const WAIT = "trap 'exit 0' TERM; sleep 1000 & wait $!";

describe.skipIf(!isRoot || noResolver !== undefined)("the resolver of tasks (needs root, CNI plugins and aardvark-dns)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const apply = async (texts: readonly string[], group = "default") => {
    const answer = await http(scene.socket, "POST", "/v1/apply", { text: texts.join("\n---\n"), group });
    expect(answer.text).toMatch(/created|replaced/);
  };
  const text = (name: string, network: object, script = WAIT) => taskText(scene.rootfs(), name, [{ name: "main", script }], { network });
  const remove = async (name: string, group = "default") => {
    await http(scene.socket, "DELETE", `/v1/tasks/${name}?group=${group}`);
    await untilIt(async () => (await http(scene.socket, "GET", `/v1/tasks/${name}?group=${group}`)).status === 404);
  };
  const running = async (name: string, group = "default") => {
    const one = async () => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}?group=${group}`)).text);
    await untilIt(async () => (await one()).known === "RUNNING");
    return one();
  };
  /** Addresses that a task gets for a name. */
  const ask = async (task: { id: string }, name: string, server = "127.0.0.11", kind = "a"): Promise<string[]> => {
    const namespace = join(scene.directory, "run/networks", task.id);
    const busybox = join(scene.rootfs(), "bin/busybox");
    const said = await host
      .inside(namespace, busybox, "nslookup", `-type=${kind}`, name, server)
      .catch((error: { stdout?: string }) => error.stdout ?? "");
    const answers = said.split("\n").slice(2);
    return answers.flatMap((line) => /^(?:Address(?: \d+)?:|.*\bname =)\s*([^\s]+)/.exec(line)?.[1] ?? []).sort();
  };
  const addressOf = (task: { addresses: string[] }, at = 0) => task.addresses[at]!.split("/")[0]!;
  const hostOf = (task: { addresses: string[] }) => addressOf(task).replace(/\.\d+$/, ".1");
  /** Of a process that may have ended. */
  const nameOf = (pid: number) => {
    try {
      return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
    } catch {
      return undefined;
    }
  };
  const resolvers = () => processesIn(host.path).filter((pid) => nameOf(pid) === "aardvark-dns");
  /** A version that makes its sockets anew at each change may lose a question. */
  const finds = (task: { id: string }, name: string, addresses: readonly string[], server?: string) =>
    untilIt(async () => (await ask(task, name, server)).join() === [...addresses].sort().join());

  test(
    "a task asks 127.0.0.11 for services, aliases, replicas and addresses of its networks, also while no daemon is there, and for nothing of others",
    async () => {
      const first = await host.daemon();
      await apply([
        text("web", { name: "back", aliases: ["www.shop", "WWW"], further: [{ name: "front", aliases: ["edge"] }] }),
        text("db", { name: "back", aliases: ["store"] }),
        text("db-2", { name: "back", aliases: ["store"] }),
        text("other", { name: "front" }),
      ]);
      await apply([text("stranger", { name: "back" })], "elsewhere");
      const [web, db, second, other] = await Promise.all(["web", "db", "db-2", "other"].map((name) => running(name)));
      const stranger = await running("stranger", "elsewhere");
      await finds(web, "store", [addressOf(db), addressOf(second)]);
      await finds(web, "db", [addressOf(db)]);
      await finds(db, "www.shop", [addressOf(web)]);
      await finds(db, "www", [addressOf(web)]);
      await finds(other, "edge", [addressOf(web, 1)]);
      expect(await ask(web, addressOf(db).split(".").reverse().join(".").concat(".in-addr.arpa"), "127.0.0.11", "ptr")).toContain("db");
      // Of a network that it is not in, of another group, and at the resolver's address of another network.
      expect(await ask(other, "db")).toEqual([]);
      expect(await ask(stranger, "db")).toEqual([]);
      await finds(web, "db", [addressOf(db)], `${hostOf(db)}:5533`);
      const elsewhere = `nslookup -type=a db ${hostOf(db)}:5533`.split(" ");
      const outside = join(scene.directory, "run/networks", stranger.id);
      const said = await host
        .inside(outside, join(scene.rootfs(), "bin/busybox"), ...elsewhere)
        .catch((error) => `${error.stdout}${error}`);
      expect(said).toMatch(/timed out|no servers could be reached/);
      // It is without rights, and another process answers when no daemon does.
      const [pid] = resolvers();
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      expect(status).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m);
      expect(status).toMatch(/^CapEff:\t0+$/m);
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
      await first.kill();
      expect(await ask(web, "store")).toEqual([addressOf(db), addressOf(second)].sort());
      await host.daemon();
      await remove("db-2");
      await untilIt(async () => (await ask(web, "store")).length === 1);
      expect(resolvers()).toEqual([pid]);
      for (const name of ["web", "db", "other"]) await remove(name);
      await remove("stranger", "elsewhere");
      expect(await host.left()).toEqual([]);
      expect(resolvers()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "what Compose files ask: a service that starts later, container_name, replicas and links, at the address that Docker has",
    async () => {
      await host.daemon();
      const until = (name: string, count: number) =>
        `until [ "$$(nslookup -type=a ${name} 127.0.0.11 | tail -n +3 | grep -c ^Address)" = ${count} ]; do sleep 0.1; done; echo ${name}`;
      const script = ["late 1", "the-late-one 1", "three 3", "alias 1"]
        .map((line) => until(...(line.split(" ") as [string, never])))
        .join("; ");
      const file = scene.file(
        "compose.yaml",
        JSON.stringify({
          name: "d24",
          services: {
            early: {
              "x-runt-rootfs": scene.rootfs(),
              links: ["four:alias"],
              command: ["sh", "-c", `cat /etc/resolv.conf; ${script}; ${WAIT.replaceAll("$", "$$$$")}`],
            },
            late: {
              "x-runt-rootfs": scene.rootfs(),
              container_name: "the-late-one",
              depends_on: ["early"],
              command: ["sh", "-c", WAIT.replaceAll("$", "$$$$")],
            },
            three: { "x-runt-rootfs": scene.rootfs(), scale: 3, command: ["sh", "-c", WAIT.replaceAll("$", "$$$$")] },
            four: { "x-runt-rootfs": scene.rootfs(), command: ["sh", "-c", WAIT.replaceAll("$", "$$$$")] },
          },
        }),
      );
      expect(await scene.ctl("apply", "-f", file)).toMatchObject({ status: 0, stderr: "" });
      const printed = async () => (await scene.ctl("-g", "d24", "logs", "early")).stdout;
      await untilIt(async () => (await printed()).endsWith("late\nthe-late-one\nthree\nalias\n"));
      expect(await printed()).toMatch(/^nameserver 127\.0\.0\.11\n/);
      expect(await printed()).toMatch(/^options .*\bndots:0\b/m);
      expect((await printed()).match(/^nameserver/gm)).toHaveLength(1);
      expect((await scene.ctl("delete", "-f", file)).status).toBe(0);
      expect(await host.left()).toEqual([]);
      expect(resolvers()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "a killed resolver comes again, a pid in its file is nobody's, and a link in the place of its directory is not followed",
    async () => {
      await host.daemon();
      await apply([text("web", { name: "back" }), text("db", { name: "back" })]);
      const [web, db] = await Promise.all(["web", "db"].map((name) => running(name)));
      await untilIt(async () => (await ask(web, "db")).length === 1);
      const directory = join(scene.stateDir, "network/resolver");
      // What the pid file and the record name is a process of somebody else's.
      const [pid] = resolvers();
      await host.serve("sh", "-c", "echo $$; while :; do sleep 1; done");
      const innocent = processesIn(host.path).find((one) => nameOf(one) === "sh")!;
      writeFileSync(join(directory, "aardvark.pid"), String(innocent));
      writeFileSync(`${directory}.json`, JSON.stringify({ pid: innocent, startTicks: "1", bootId: "no" }));
      process.kill(pid!, "SIGKILL");
      await untilIt(async () => resolvers().length === 1 && resolvers()[0] !== pid);
      await untilIt(async () => (await ask(web, "db")).join() === addressOf(db));
      expect(nameOf(innocent)).toBe("sh");
      // A directory of somebody else's has its name, while none is there and while one is.
      const other = join(scene.directory, "others");
      mkdirSync(other);
      writeFileSync(join(other, "kept"), "kept\n");
      renameSync(directory, `${directory}-away`);
      symlinkSync(other, directory);
      await apply([text("third", { name: "back" })]);
      const third = await running("third");
      await untilIt(async () => (await ask(web, "third")).join() === addressOf(third));
      expect(readdirSync(other)).toEqual(["kept"]);
      expect(lstatSync(directory).isDirectory()).toBe(true);
      expect(resolvers()).toHaveLength(1);
      for (const name of ["web", "db", "third"]) await remove(name);
      expect(await host.left()).toEqual([]);
      expect(resolvers()).toEqual([]);
      expect(nameOf(innocent)).toBe("sh");
    },
    LONGEST_MS,
  );

  test(
    "what is for one task only goes to it: its own loopback from its neighbours, name servers that it names, and nothing out of an internal network",
    async () => {
      await host.daemon();
      await apply([
        text("closed", { name: "inner", internal: true }, `httpd -p 127.0.0.1:80 -h /etc && echo up; ${WAIT}`),
        text("peer", { name: "inner", internal: true }),
        text("own", { name: "back", dns: { servers: ["127.0.0.1"] } }),
        text("odd", { name: "back", dns: { servers: ["192.0.2.53"], search: ["shop.example"], options: ["ndots:2"] } }),
      ]);
      const [closed, peer, own, odd] = await Promise.all(["closed", "peer", "own", "odd"].map((name) => running(name)));
      await untilIt(async () => (await ask(peer, "closed")).join() === addressOf(closed));
      // route_localnet takes what is for 127.0.0.1 from every interface, but for the rule that comes first.
      // Nor is the host in the way, which drops it where it sees what goes through bridges.
      await host.on("sh", "-c", "f=/proc/sys/net/bridge/bridge-nf-call-iptables; [ ! -e $f ] || echo 0 >$f");
      const inPeer = join(scene.directory, "run/networks", peer.id);
      const inClosed = join(scene.directory, "run/networks", closed.id);
      const knock = (namespace: string) => host.inside(namespace, "timeout", "3", "bash", "-c", "echo >/dev/tcp/127.0.0.1/80");
      await untilIt(() =>
        knock(inClosed).then(
          () => true,
          () => false,
        ),
      );
      await host.inside(
        inPeer,
        "sh",
        "-c",
        `ip route add 127.0.0.1 via ${addressOf(closed)} table 7; ip rule add pref 0 to 127.0.0.1 dport 80 lookup 7; ip rule del pref 0 lookup local; ip rule add pref 9 lookup local`,
      );
      await expect(knock(inPeer)).rejects.toThrow();
      // nft shows what either program has written.
      const rules = await host.inside(inClosed, "nft", "list", "ruleset", "ip");
      const dropped = [...rules.matchAll(/127\.0\.0\.0\/8 counter packets (\d+) .*drop/g)].map(([, packets]) => Number(packets));
      expect(Math.max(...dropped)).toBeGreaterThan(0);
      // No question leaves an internal network; one of another goes to the servers that it names.
      const files = () =>
        Object.fromEntries(
          readdirSync(join(scene.stateDir, "network/resolver")).map((name) => [
            name.replace(/^runtd-[0-9a-f]+-/, ""),
            readFileSync(join(scene.stateDir, "network/resolver", name), "utf8"),
          ]),
        );
      await untilIt(() => Object.keys(files()).length === 3 && files()["default.back"]!.split("\n").length === 4);
      expect(
        files()
          ["default.inner%int"]!.split("\n")
          .slice(1, 3)
          .every((line) => line.endsWith(" 127.255.255.255")),
      ).toBe(true);
      expect(files()["default.back"]).toMatch(/ odd 192\.0\.2\.53$/m);
      const resolv = async (task: { id: string }) => readFileSync(join(scene.stateDir, "network/files", task.id, "resolv.conf"), "utf8");
      expect(await resolv(own)).toMatch(/^nameserver 127\.0\.0\.1$/m);
      expect(await resolv(odd)).toBe("nameserver 127.0.0.11\nsearch shop.example\noptions ndots:2\n");
      for (const name of ["closed", "peer", "own", "odd"]) await remove(name);
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "without aardvark-dns the hosts files have the names, resolv.conf is as it was, and the node says which package it is in",
    async () => {
      await host.daemon({ args: ["--resolver", "/nowhere/aardvark-dns"] });
      await apply([text("web", { name: "back" }), text("db", { name: "back" })]);
      const [web, db] = await Promise.all(["web", "db"].map((name) => running(name)));
      const files = (task: { id: string }, name: string) => readFileSync(join(scene.stateDir, "network/files", task.id, name), "utf8");
      await untilIt(() => files(web, "hosts").includes(`${addressOf(db)}\tdb`));
      expect(files(web, "resolv.conf")).not.toContain("127.0.0.11");
      await untilIt(async () => /NoResolver.*the package aardvark-dns has it/.test((await scene.ctl("node")).stdout));
      for (const name of ["web", "db"]) await remove(name);
      await untilIt(async () => !/NoResolver/.test((await scene.ctl("node")).stdout));
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );
});
