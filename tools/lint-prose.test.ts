import { describe, expect, it } from "vitest";
import { faultsOf } from "./lint-prose.ts";

const LONG = `runt ${"reads a file and then ".repeat(10)}ends.`;
const faults = (text: string) => faultsOf("docs/a.md", text);

describe("prose of a page", () => {
  it.each([
    ["runt stops the container. It removes the cgroup."],
    ["# Of headings\n\n```sh\n# nobody reads code\n```"],
    ["| text |\n| --- |\n| Of cells: `nobody`, a note |\n"],
    ["The program runs as nobody. The user nobody owns it. `nobody` too."],
    ["Who calls runt? An engine."],
    ["Of course it ends. Its mount ends, too. Its names are short."],
    [`| a |\n| --- |\n| ${"word ".repeat(30)} |`],
    [`| a |\n| --- |\n| ${"word ".repeat(30)}<br>${"word ".repeat(30)} |`],
    [`![a picture](https://example.org/${"x".repeat(120)})`],
    ["`a` `a`"],
    [`runt ${"reads a file and then ".repeat(5)}ends. runt ${"reads a file and then ".repeat(5)}ends.`.replaceAll("then ", "then\n")],
  ])("passes: %s", (text) => {
    expect(faults(text)).toEqual([]);
  });

  it.each([
    [`A line${" and more".repeat(13)}.`, "docs/a.md:1: a line of 124 columns (at most 120)"],
    ["One.\n\nTwo.\nOf three, one.", 'docs/a.md:4: begins with "Of"; begin with the subject: Of three, one.'],
    ["It ends. Its own cgroup.", 'docs/a.md:1: begins with "Its"; begin with the subject: Its own cgroup.'],
    ["It is a file that nobody reads.", 'docs/a.md:1: "nobody": say what does not happen, with a subject ("no process reads it")'],
    ["| a |\n| --- |\n| what is not there |", 'docs/a.md:3: "what is not there": name it ("missing fields")'],
    ["It waits; of this container it is the end.", 'docs/a.md:1: "; of this container it is": begin with the subject'],
    ["It waits\nfor the the end.", "docs/a.md:2: Unexpected repeated `the`, remove one occurrence"],
  ])("fails: %s", (text, fault) => {
    expect(faults(text)).toEqual([fault]);
  });

  it.each([
    ["a paragraph", LONG.replaceAll("and then ", "and then\n")],
    ["a cell", `| a |\n| --- |\n| ${LONG} |`],
  ])("fails for a long sentence in %s", (_, text) => {
    expect(faults(text)).toEqual([expect.stringMatching(/^docs\/a\.md:[13]: a sentence of 52 words \(at most 40\): runt reads/)]);
  });

  it("fails when most sentences of a page are passive", () => {
    const active = "runt reads it. ".repeat(10);
    const page = (sentence: string) => `${active}${sentence.repeat(20)}`.replaceAll(". ", ".\n");
    expect(faults(page("It is removed. "))).toEqual(["docs/a.md:1: 67 % of the sentences are passive: name who acts"]);
    expect(faults(page("It was sent. "))).toEqual(["docs/a.md:1: 67 % of the sentences are passive: name who acts"]);
    expect(faults(page("It ends. "))).toEqual([]);
  });
});

describe("prose of a man page", () => {
  const manual = (text: string) =>
    faultsOf("man/runt-x.8", `.TH RUNT\\-X 8\n.SH SYNOPSIS\nnobody\n.SH OPTIONS\n.TP\n\\fBnobody\\fR\n${text}\n`);

  it("leaves out the synopsis, terms and examples, and the length of lines", () => {
    expect(manual(`stops \\fBnobody\\fR's program${", or reads it".repeat(8)}\n.EX\nnobody\n.EE`)).toEqual([]);
  });

  it("is read otherwise", () => {
    expect(manual("sets what nobody reads")).toEqual([expect.stringMatching(/^man\/runt-x\.8:7: "nobody"/)]);
  });
});
