import { expect, test } from "vitest";
import {
  helperFor,
  loginIn,
  parseAuthFile,
  registriesIn,
  registryKey,
  renderAuthFile,
  withHelper,
  withLogin,
  withoutLogin,
  withoutLogins,
} from "./auth-file.ts";

const auth = (text: string) => ({ auth: Buffer.from(text).toString("base64") });

test("a registry, a namespace and a URL have the names that skopeo looks for", () => {
  const names = [
    "host:5000",
    "host/team/app",
    "https://host.example/",
    "https://index.docker.io/v1/",
    "index.docker.io",
    "[::1]:5000",
    "localhost",
  ];
  expect(names.map(registryKey)).toEqual([
    "host:5000",
    "host/team/app",
    "host.example",
    "docker.io",
    "docker.io",
    "[::1]:5000",
    "localhost",
  ]);
  for (const name of ["", "/", "a b", "host/UPPER", "host:port", "-x", "user@host", "host/../x", "host\n", "__proto__"])
    expect(() => registryKey(name), name).toThrow("is no registry");
});

test("a login is added, replaced and removed, and what else is in the file stays", () => {
  const before = { ...{ auths: { a: auth("u:p"), "host/team": auth("t:p") }, credHelpers: { other: "pass" } }, detachKeys: "ctrl-q" };
  const after = withLogin(before, "host", { username: "u", password: "p:q" });
  expect(after).toEqual({ ...before, auths: { ...before.auths, host: auth("u:p:q") } });
  expect(loginIn(after, "host")).toEqual({ username: "u", password: "p:q" });
  expect([loginIn(after, "host/team")?.username, loginIn(after, "none")]).toEqual(["t", undefined]);
  expect(withoutLogin(after, "host")).toEqual(before);
  expect(withoutLogins(after)).toEqual({ ...before, auths: {} });
  expect(registriesIn(after)).toEqual(["a", "host/team", "host", "other"]);
  const docker = { auths: { "https://index.docker.io/v1/": auth("u:p") } };
  expect([loginIn(docker, "docker.io")?.username, withoutLogin(docker, "docker.io")]).toEqual(["u", { auths: {} }]);
});

test("a helper of the registry, or of all, is found; its entry leaves no password in the file, and is one that skopeo reads", () => {
  const file = { auths: { host: auth("u:old") }, credHelpers: { other: "pass", none: "" }, credsStore: "store" };
  expect(["other", "host", "host/team", "none"].map((key) => helperFor(file, key))).toEqual(["pass", "store", "store", undefined]);
  expect(withHelper(file, "host", "store")).toEqual({ ...file, auths: { host: {} }, credHelpers: { ...file.credHelpers, host: "store" } });
  expect(withHelper({ credHelpers: { host: "pass" } }, "host", "pass")).toEqual({ auths: { host: {} }, credHelpers: { host: "pass" } });
  expect(helperFor({ auths: null }, "host")).toBe(undefined);
});

test("a file that is no such file is refused, and its content is not shown", () => {
  for (const text of ["{", "[]", '"secret"', '{ "auths": [] }', '{ "auths": { "a": { "auth": 1 } } }', '{ "credHelpers": { "a": 1 } }'])
    expect(() => parseAuthFile(text, "/f"), text).toThrow(/^\/f is no JSON as in containers-auth\.json\(5\), and stays as it is$/);
  expect(parseAuthFile("", "/f")).toEqual({});
  const unusual = '{"__proto__":{"x":1},"auths":{"__proto__":{"auth":"eA=="}}}';
  expect(JSON.parse(renderAuthFile(withLogin(parseAuthFile(unusual, "/f"), "h", { username: "u", password: "p" })))).toEqual(
    JSON.parse('{"__proto__":{"x":1},"auths":{"__proto__":{"auth":"eA=="},"h":{"auth":"dTpw"}}}'),
  );
});
