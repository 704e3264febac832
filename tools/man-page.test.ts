import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseTasks, taskSchema } from "../src/engine/spec/index.ts";
import { GLOBAL_FLAGS, VERBS } from "../src/runtime/cli/table/index.ts";
import { manPages } from "./man-page.ts";
import { filePages, TASK_EXAMPLE } from "./man-page-files.ts";
import { taskPages } from "./man-page-tasks.ts";
import { terms } from "./man-text.ts";

const pages = manPages("1.2.3");
const allPages = [...pages, ...(await taskPages("1.2.3")), ...filePages("1.2.3")];
const has = (program: string) => existsSync(`/usr/bin/${program}`);
const rendered = (text: string) =>
  spawnSync("groff", ["-man", "-Tascii", "-ww", "-P-c", "-P-b", "-P-u"], { input: text, encoding: "utf8" });

describe("manual pages", () => {
  it("are one for the program and one for every verb", () => {
    expect([...pages.keys()]).toEqual(["runt.8", ...VERBS.map(({ name }) => `runt-${name}.8`)]);
  });

  it.skipIf(!has("groff")).each(allPages)("%s is good for groff", (_, text) => {
    const { status, stderr } = rendered(text);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  it.skipIf(!has("mandoc")).each(allPages)("%s is good for mandoc", (_, text) => {
    const { stdout } = spawnSync("mandoc", ["-T", "lint", "-W", "warning"], { input: text, encoding: "utf8" });
    // The pages have no date: they change with the table, not with the calendar.
    expect(stdout.split("\n").filter((line) => line !== "" && !line.includes("missing date"))).toEqual([]);
  });

  it.skipIf(!has("groff")).each([...VERBS, undefined].map((verb) => [verb?.name ?? "the program", verb] as const))(
    "what a reader sees of %s has every flag and its text",
    (_, verb) => {
      const text = rendered(pages.get(verb ? `runt-${verb.name}.8` : "runt.8")!).stdout.replace(/\s+/g, " ");
      for (const { name, help } of (verb?.flags ?? GLOBAL_FLAGS).filter(({ hidden }) => !hidden)) {
        expect(text).toContain(`--${name}`);
        expect(text).toContain(help.replace(/\s+/g, " "));
      }
      for (const { name } of (verb?.flags ?? []).filter(({ hidden }) => hidden)) expect(text).not.toContain(`--${name} `);
      for (const section of ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS", "SEE ALSO"]) expect(text).toContain(section);
    },
  );

  it("list every field of a task, with an example that is one", () => {
    const page = filePages("1.2.3").get("runtd-task.5") ?? "";
    for (const name of Object.keys(taskSchema.shape)) expect(page).toContain(`\n.TP\n\\fB${name}\\fR\n`);
    for (const path of ["containers[].healthCheck.interval", "network.ports[].host", "volumes[].files.*.mode"])
      expect(page).toContain(`\\fB${path}\\fR\n`);
    expect(parseTasks(TASK_EXAMPLE.join("\n")).findings).toEqual([]);
  });

  it.each(allPages)("%s has no term without a text, and no text in a term", (_, text) => {
    const lines = text.split("\n");
    const texts = lines.flatMap((line, at) => (line === ".TP" ? [lines.slice(at + 1, at + 3)] : []));
    for (const [term = "", said = ""] of texts) {
      expect(said, term).not.toBe("");
      // A flag and its values: "\fB--journal-socket PATH\fR", "\fB-o, --output <format>\fR".
      if (/^\\fB\\-/.test(term)) expect(term.split(/[ ,]+/).filter((word) => /^[a-z]{2,}$/.test(word))).toEqual([]);
    }
  });

  it("is not made with a term that has no text", () => {
    expect(() => terms([["--journal-socket PATH stream socket", ""]])).toThrow(/"--journal-socket PATH stream socket" has no text/);
  });

  it("never begins a line of text with a request", () => {
    const known = /^\.(TH|SH|TP|PP|BR|EX|EE|nh|ad l|\\")/;
    for (const text of pages.values()) {
      expect(text.split("\n").filter((line) => /^[.']/.test(line) && !known.test(line))).toEqual([]);
    }
  });
});
