import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { manualPage } from "./manual.ts";

const ROFF = String.raw`.\" Made by "make man": do not edit.
.TH RUNT\-KILL 8 "" "runt 0.1.0" "runt manual"
.nh
.ad l
.SH NAME
runt\-kill \- send a signal
.SH DESCRIPTION
Sends <signal> to \fB\-\-all\fR of \fIthem\fR.
.PP
A template is {{.Name}}.
.SH OPTIONS
.TP
\fB\-a\fR, \fB\-\-all\fR
every process
.TP
\fB\-\-pid\fR \fIPID\fR
one process
.SH EXAMPLES
.EX
runt kill web \(ti
.EE
.SH SEE ALSO
.BR runt (8),
.BR signal (7)
`;

test("a page of the manual has its headings, paragraphs, options, examples and links", () => {
  expect(manualPage(ROFF, (file) => file === "runt.8")).toBe(`# runt-kill(8)

## Name

<p>runt-kill - send a signal</p>

## Description

<p>Sends &lt;signal&gt; to <b>--all</b> of <i>them</i>.</p>

<p>A template is &#123;&#123;.Name&#125;&#125;.</p>

## Options

<dl>
<dt><b>-a</b>, <b>--all</b></dt>
<dd>every process</dd>
<dt><b>--pid</b> <i>PID</i></dt>
<dd>one process</dd>
</dl>

## Examples

\`\`\`sh
runt kill web ~
\`\`\`

## See also

<p><a href="./runt.8.html"><b>runt</b>(8)</a>,
<b>signal</b>(7)</p>
`);
});

test.each(readdirSync("man"))("%s uses only macros and escapes that are known", (name) => {
  const page = manualPage(readFileSync(`man/${name}`, "utf8"), () => true);
  expect(page).toMatch(new RegExp(`^# ${name.replace(/\.(\d)$/, "\\($1\\)")}\n`));
  expect(page).not.toContain("\\f");
});

test("an unknown macro and an unknown escape are errors", () => {
  expect(() => manualPage(".RS 4\n", () => false)).toThrow("the macro .RS is not known");
  expect(() => manualPage("a \\*(lq\n", () => false)).toThrow("the escape \\* is not known");
});
