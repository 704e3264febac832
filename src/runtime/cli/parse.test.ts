import { describe, expect, it } from "vitest";
import { parseCommandLine } from "./parse.ts";

const parse = (line: string) => {
  const { global, verb, flags, positionals } = parseCommandLine(line.split(" ").filter((word) => word !== ""));
  return { global, verb: verb?.name, flags, positionals };
};

describe("calls that engines make", () => {
  it("reads containerd's create", () => {
    expect(
      parse("--root /run/containerd/runc/default --log /b/log.json --log-format json create --bundle /b --pid-file /b/init.pid abc"),
    ).toEqual({
      global: { root: "/run/containerd/runc/default", log: "/b/log.json", "log-format": "json" },
      verb: "create",
      flags: { bundle: "/b", "pid-file": "/b/init.pid" },
      positionals: ["abc"],
    });
  });

  it("reads = forms, repeats and single dashes", () => {
    const { global, flags } = parse("--root=/a --root=/b -log-format=json run -d -no-subreaper --preserve-fds=2 -b /x id");
    expect(global).toEqual({ root: "/b", "log-format": "json" });
    expect(flags).toEqual({ detach: true, "no-subreaper": true, "preserve-fds": 2, bundle: "/x" });
  });

  it("takes flags before and after positionals, and a signal of any form", () => {
    expect(parse("kill --all abc 9")).toMatchObject({ flags: { all: true }, positionals: ["abc", "9"] });
    expect(parse("kill -a abc KILL")).toMatchObject({ flags: { all: true }, positionals: ["abc", "KILL"] });
    expect(parse("delete abc --force")).toMatchObject({ flags: { force: true }, positionals: ["abc"] });
  });

  it("leaves what follows the id of exec and ps alone", () => {
    expect(parse("exec -t -e A=1 --env=B=2,3 -u 1:2 abc sh -c -x --help")).toMatchObject({
      flags: { tty: true, env: ["A=1", "B=2,3"], user: "1:2" },
      positionals: ["abc", "sh", "-c", "-x", "--help"],
    });
    expect(parse("exec abc -- ls --").positionals).toEqual(["abc", "ls", "--"]);
    expect(parse("exec -d --console-socket=/s --tty --pid-file=/p abc top")).toMatchObject({
      flags: { detach: true, "console-socket": "/s", tty: true, "pid-file": "/p" },
      positionals: ["abc", "top"],
    });
    expect(parse("exec --process /tmp/p --detach --pid-file /b/e.pid --preserve-fds 2 abc").positionals).toEqual(["abc"]);
    expect(parse("ps --format json abc")).toMatchObject({ flags: { format: "json" }, positionals: ["abc"] });
    expect(parse("ps abc -o pid,comm").positionals).toEqual(["abc", "-o", "pid,comm"]);
  });

  it("takes - as the value of a flag", () => {
    expect(parse("update --resources=- abc")).toMatchObject({ flags: { resources: "-" }, positionals: ["abc"] });
    expect(parse("update --resources - abc")).toMatchObject({ flags: { resources: "-" }, positionals: ["abc"] });
    expect(parse("update --memory -1 abc")).toMatchObject({ flags: { memory: "-1" }, positionals: ["abc"] });
  });

  it("reads booleans with a value", () => {
    expect(parse("--systemd-cgroup=true --debug=false state a").global).toEqual({ "systemd-cgroup": true, debug: undefined });
  });
});

describe("mistakes", () => {
  it.each([
    ["frobnicate", "unknown-command", "No help topic for 'frobnicate'"],
    ["help frobnicate", "unknown-command", "No help topic for 'frobnicate'"],
    ["state", "usage", '"state" requires exactly 1 argument'],
    ["state a b", "usage", '"state" requires exactly 1 argument'],
    ["kill a b c", "usage", '"kill" requires a maximum of 2 arguments'],
    ["create --bundel x id", "usage", "flag provided but not defined: -bundel"],
    ["create id --bundle", "usage", "flag needs an argument: -bundle"],
    ["create --preserve-fds many id", "usage", 'invalid value "many" for flag -preserve-fds: use a number'],
    ["run --detach=perhaps id", "usage", 'invalid value "perhaps" for flag -detach: use true or false'],
  ])("%s", (line, code, message) => {
    expect(() => parse(line)).toThrowError(expect.objectContaining({ code, message }));
  });
});

describe("help and version", () => {
  it("shows help without a verb, and of a verb without its positionals", () => {
    expect(parse("")).toMatchObject({ global: { help: true }, verb: undefined });
    expect(parse("state --help")).toMatchObject({ verb: "state", flags: { help: true } });
    expect(parse("help kill")).toMatchObject({ verb: "kill", flags: { help: true } });
    expect(parse("--version")).toMatchObject({ global: { version: true } });
  });
});
