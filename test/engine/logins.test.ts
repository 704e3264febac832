/** Logins to registries: runtctl login and logout, and the pulls that use them. */
import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { told } from "./answering.ts";
import { RUNTCTL } from "./client-programs.ts";
import { baseLayer, tar, writeLayout } from "./image-files.ts";
import { HAS_REGISTRY, PASSWORD, type Registry, USER, useRegistries } from "./registry.ts";
import { type Daemon, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";

const AUTH = Buffer.from(`${USER}:${PASSWORD}`).toString("base64");
const NOBODY = "65534";

describe.skipIf(!isRoot || !HAS_REGISTRY)("logins (needs root, skopeo, umoci and docker-registry)", () => {
  const scene = useEngine();
  const registryOf = useRegistries(scene.directory);
  let count = 0;
  const image = (registry: Registry) => {
    const directory = join(scene.directory, `layout-${++count}`);
    writeLayout(directory, { layers: [baseLayer(), tar([{ name: "text", content: directory }])], config: { Cmd: ["/bin/true"] } });
    return registry.push(directory, "team/a:v1");
  };
  /** A registry with users, and a daemon whose user has a runtime directory, helpers and no logins. */
  const started = async (args: readonly string[] = []) => {
    const registry = await registryOf({ hasUsers: true });
    const own = join(scene.directory, `own-${++count}`);
    const programs = join(own, "programs");
    mkdirSync(programs, { recursive: true });
    const before = `${registry.before} XDG_RUNTIME_DIR=${own} PATH=${programs}:$PATH; unset REGISTRY_AUTH_FILE`;
    const daemon = await scene.daemon({ before, args: [...args] });
    return { registry, daemon, own, programs, file: join(own, "containers/auth.json") };
  };
  const login = (host: string, { password = PASSWORD, args = [] as readonly string[] } = {}) =>
    told(RUNTCTL, ["-s", scene.socket, "login", "-u", USER, "--password-stdin", ...args, host], { input: `${password}\n` });
  const contentOf = (path: string) => JSON.parse(readFileSync(path, "utf8"));
  const program = (directory: string, name: string, script: string) => {
    const path = join(directory, name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  };
  const noPassword = (daemon: Daemon, ...texts: readonly unknown[]) => {
    for (const secret of [PASSWORD, AUTH]) expect(`${daemon.log()}${JSON.stringify(texts)}`).not.toContain(secret);
  };

  test(
    "the next pull uses a login; a wrong password changes nothing; what else is in the file stays; after logout the pull is refused",
    async () => {
      const { registry, daemon, file } = await started();
      const reference = await image(registry);
      const pull = () => scene.ctl("pull", "-q", reference);
      expect(await pull()).toMatchObject({ status: 1, stderr: expect.stringContaining("unauthorized") });
      const wrong = await login(registry.host, { password: "wr0ng-Pa55" });
      expect(wrong).toMatchObject({ status: 1, stdout: "", stderr: expect.stringMatching(/invalid username\/password|unauthorized/) });
      expect([existsSync(file), wrong.stderr.includes("wr0ng")]).toEqual([false, false]);
      const right = await login(registry.host);
      expect(right).toEqual({ status: 0, stdout: "Login Succeeded\n", stderr: "" });
      expect([contentOf(file), statSync(file).mode & 0o777]).toEqual([{ auths: { [registry.host]: { auth: AUTH } } }, 0o600]);
      expect(await pull()).toMatchObject({ status: 0 });
      expect(await scene.ctl("login", "--get-login", registry.host)).toEqual({ status: 0, stdout: `${USER}\n`, stderr: "" });

      const others = { auths: { other: { auth: "eDp5" }, [registry.host]: { auth: AUTH } }, detachKeys: "ctrl-q" };
      writeFileSync(file, JSON.stringify(others));
      expect((await login(`https://${registry.host}/`)).stdout).toBe("Login Succeeded\n");
      expect((await login(`${registry.host}/team`)).stdout).toBe("Login Succeeded\n");
      expect(contentOf(file)).toEqual({ ...others, auths: { ...others.auths, [`${registry.host}/team`]: { auth: AUTH } } });
      expect((await scene.ctl("logout", registry.host)).stdout).toBe(`Removed login credentials for ${registry.host}\n`);
      // The login of the namespace is left.
      expect((await scene.ctl("pull", "-q", await image(registry))).status).toBe(0);
      expect((await scene.ctl("logout", `${registry.host}/team`)).status).toBe(0);
      expect(contentOf(file)).toEqual({ auths: { other: { auth: "eDp5" } }, detachKeys: "ctrl-q" });
      expect(await scene.ctl("pull", "-q", "--policy", "always", await image(registry))).toMatchObject({ status: 1 });
      for (const words of [
        ["logout", registry.host],
        ["login", "--get-login", registry.host],
      ])
        expect(await scene.ctl(...words)).toMatchObject({ status: 1, stderr: `runtctl: ${file} has no login for ${registry.host}\n` });
      expect((await scene.ctl("logout", "--all")).stdout).toBe("Removed login credentials for all registries\n");
      expect(contentOf(file)).toEqual({ auths: {}, detachKeys: "ctrl-q" });
      expect(readdirSync(join(scene.directory, "run/login"))).toEqual([]);
      noPassword(daemon, right);
    },
    LONGEST_MS,
  );

  test(
    "a login goes to the file of the daemon's credentials, or to the named one; a program that prints them is refused",
    async () => {
      const [shop, other] = [scene.file("shop.json", "{}"), scene.file("other.json", "")];
      const { registry, file } = await started(["--credentials", `default=file:${shop}`, "--credentials", "made=exec:/bin/true"]);
      expect(await login(registry.host)).toMatchObject({ status: 0, stderr: "" });
      expect([Object.keys(contentOf(shop).auths), existsSync(file)]).toEqual([[registry.host], false]);
      expect((await scene.ctl("pull", "-q", await image(registry))).status).toBe(0);
      const elsewhere = await login(registry.host, { args: ["--authfile", other] });
      expect(elsewhere).toMatchObject({ status: 0, stderr: expect.stringContaining(`Pulls of the daemon do not read ${other}`) });
      expect(Object.keys(contentOf(other).auths)).toEqual([registry.host]);
      expect((await login(registry.host, { args: ["--credentials", "made"] })).stderr).toContain(
        "the program /bin/true has the credentials made",
      );
      expect((await login(registry.host, { args: ["--credentials", "none"] })).stderr).toContain('no credentials with the name "none"');
    },
    LONGEST_MS,
  );

  test(
    "a helper of the file keeps the password, and the next pull asks it; one that is broken or gone leaves the file as it is",
    async () => {
      const { registry, daemon, own, programs, file } = await started();
      const kept = join(own, "kept");
      const script = `case $1 in store) cat > ${kept};; erase) rm -f ${kept};; get) cat ${kept} 2>/dev/null || { echo credentials not found in native keychain; exit 1; };; esac`;
      program(programs, "docker-credential-kept", script);
      program(programs, "docker-credential-broken", "echo the keychain is locked; exit 2");
      mkdirSync(join(own, "containers"));
      for (const helper of ["broken", "gone"]) {
        const text = JSON.stringify({ credHelpers: { [registry.host]: helper } });
        writeFileSync(file, text);
        const reason = helper === "broken" ? "docker-credential-broken store has failed (2): the keychain is locked" : "is not installed";
        expect(await login(registry.host)).toMatchObject({ status: 1, stderr: expect.stringContaining(reason) });
        expect(readFileSync(file, "utf8")).toBe(text);
      }
      writeFileSync(file, JSON.stringify({ credsStore: "kept" }));
      expect(await login(`${registry.host}/team`)).toMatchObject({ status: 1, stderr: expect.stringContaining("no logins of namespaces") });
      expect(await login(registry.host)).toMatchObject({ status: 0, stdout: "Login Succeeded\n" });
      expect(contentOf(file)).toEqual({ credsStore: "kept", auths: { [registry.host]: {} }, credHelpers: { [registry.host]: "kept" } });
      expect(contentOf(kept)).toEqual({ ServerURL: registry.host, Username: USER, Secret: PASSWORD });
      expect((await scene.ctl("login", "--get-login", registry.host)).stdout).toBe(`${USER}\n`);
      expect((await scene.ctl("pull", "-q", await image(registry))).status).toBe(0);
      expect((await scene.ctl("logout", registry.host)).status).toBe(0);
      expect([existsSync(kept), contentOf(file).auths]).toEqual([false, {}]);
      noPassword(daemon);
    },
    LONGEST_MS,
  );

  test(
    "a link, a broken file and a file that another user may write stay as they are, and no registry is asked; another user may not log in",
    async () => {
      const { registry, own, file } = await started();
      mkdirSync(join(own, "containers"));
      const victim = scene.file("victim", "{}");
      symlinkSync(victim, file);
      const before = registry.asked.length;
      expect((await login(registry.host)).stderr).toContain(`${file} is a symbolic link`);
      expect([lstatSync(file).isSymbolicLink(), readFileSync(victim, "utf8")]).toEqual([true, "{}"]);
      const text = `{ "auths": { "x": "${AUTH}`;
      const broken = scene.file("broken", text);
      const refused = await login(registry.host, { args: ["--authfile", broken] });
      expect(refused.stderr).toContain(`${broken} is no JSON as in containers-auth.json(5), and stays as it is`);
      expect([readFileSync(broken, "utf8"), refused.stderr.includes(AUTH)]).toEqual([text, false]);
      const shared = scene.file("shared", "{}");
      chmodSync(shared, 0o666);
      expect((await login(registry.host, { args: ["--authfile", shared] })).stderr).toContain("may be written by other users");
      chmodSync(shared, 0o600);
      chownSync(shared, Number(NOBODY), Number(NOBODY));
      expect((await login(registry.host, { args: ["--authfile", shared] })).stderr).toContain(`belongs to the user ${NOBODY}`);
      expect((await login(registry.host, { args: ["--authfile", "/none/auth.json"] })).stderr).toContain("ENOENT");
      expect((await login("user@host")).stderr).toContain("is no registry");
      expect(registry.asked.length).toBe(before);
      chmodSync(scene.directory, 0o755);
      const words = ["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", ...RUNTCTL, "-s", scene.socket, "login", "-u", "x"];
      const other = await told(["setpriv"], [...words, "--password-stdin", registry.host], { input: PASSWORD });
      expect([other.status === 0, existsSync(join(own, "containers/auth.json.new"))]).toEqual([false, false]);
      expect(other.stderr).toMatch(/admin\.sock/);
    },
    LONGEST_MS,
  );

  test(
    "a registry that does not answer keeps no other login waiting, and is asked no longer than the client waits",
    async () => {
      const { registry, file } = await started();
      const connections = new Set<Socket>();
      const deaf = createServer((socket) => {
        connections.add(socket.on("error", () => {}).on("close", () => connections.delete(socket)));
        socket.resume();
      });
      await new Promise<void>((done) => deaf.listen(0, "127.0.0.1", done));
      try {
        const [program = "", ...words] = [...RUNTCTL, "-s", scene.socket, "login", "-u", USER, "--password-stdin"];
        const client = spawn(program, [...words, `127.0.0.1:${(deaf.address() as AddressInfo).port}`], {
          stdio: ["pipe", "ignore", "ignore"],
        });
        client.stdin.end(PASSWORD);
        await until(() => connections.size > 0);
        expect(await login(registry.host)).toMatchObject({ status: 0 });
        expect(connections.size).toBeGreaterThan(0);
        client.kill("SIGTERM");
        await until(() => connections.size === 0);
        expect(Object.keys(contentOf(file).auths)).toEqual([registry.host]);
      } finally {
        for (const socket of connections) socket.destroy();
        deaf.close();
      }
    },
    LONGEST_MS,
  );

  test(
    "logout --all removes the other logins if one helper refuses, and tells which",
    async () => {
      const { own, programs, file } = await started();
      program(programs, "docker-credential-broken", "echo the keychain is locked; exit 2");
      mkdirSync(join(own, "containers"));
      writeFileSync(
        file,
        JSON.stringify({ auths: { "a.example": {}, "b.example": { auth: AUTH } }, credHelpers: { "a.example": "broken" } }),
      );
      const message = "runtctl: not all logins are removed: docker-credential-broken erase has failed (2): the keychain is locked\n";
      expect(await scene.ctl("logout", "--all")).toMatchObject({ status: 1, stderr: message });
      expect(contentOf(file)).toEqual({ auths: { "a.example": {} }, credHelpers: { "a.example": "broken" } });
    },
    LONGEST_MS,
  );

  test(
    "on a terminal login asks for the user and the password, and shows no key of the password; ^C ends it",
    async () => {
      const { registry, file } = await started();
      const ask = () => {
        const command = `${RUNTCTL.join(" ")} -s ${scene.socket} login ${registry.host}`;
        const client = spawn("script", ["-qec", command, "/dev/null"], { stdio: ["pipe", "pipe", "ignore"] });
        let output = "";
        client.stdout.on("data", (chunk) => {
          output += chunk;
        });
        const ended = new Promise<number | null>((done) => client.once("close", done));
        return { text: () => output, ended, type: (keys: string) => void client.stdin.write(keys) };
      };
      const first = ask();
      await until(() => first.text().endsWith("Username: "));
      first.type(`${USER}\n`);
      await until(() => first.text().endsWith("Password: "));
      first.type(`wrong\x15${PASSWORD}x\x7f\r`);
      expect([await first.ended, first.text().includes("Login Succeeded")]).toEqual([0, true]);
      expect(first.text()).not.toMatch(/wrong|s3cr/);
      expect(Object.keys(contentOf(file).auths)).toEqual([registry.host]);
      const second = ask();
      await until(() => second.text().endsWith("Username: "));
      second.type(`${USER}\n`);
      await until(() => second.text().endsWith("Password: "));
      second.type("s3cr\x03");
      expect([await second.ended, second.text().includes("s3cr")]).toEqual([130, false]);
      const none = await told(RUNTCTL, ["-s", scene.socket, "login", registry.host]);
      expect(none).toMatchObject({ status: 2, stderr: expect.stringContaining("is no terminal") });
    },
    LONGEST_MS,
  );
});
