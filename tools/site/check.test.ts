import { expect, test } from "vitest";
import { siteFaults } from "./check.ts";

const faults = (html: string, base = "/") =>
  siteFaults(
    new Map([
      ["index.html", ""],
      ["docs/engine.html", `<h2 id="a-b">A</h2>${html}`],
      ["assets/style.css", ""],
      ["picture.svg", ""],
    ]),
    base,
  );

test.each([
  '<a href="#a-b">',
  '<a class="x" href="/docs/engine.html#a-b">',
  '<a href="../index.html">',
  '<a href="/">',
  '<a href="https://example.org/x">',
  '<a href="mailto:a@example.org">',
  '<img alt="a" src="/picture.svg"><link rel="stylesheet" href="/assets/style.css">',
  '<img src="data:image/svg+xml,x">',
])("%s is no fault", (html) => {
  expect(faults(html)).toEqual([]);
});

test("below a base, addresses begin with it", () => {
  expect(faults('<a href="/runt/docs/engine.html#a-b"><a href="./engine.html">', "/runt/")).toEqual([]);
  expect(faults('<a href="/docs/engine.html">', "/runt/")).toEqual(["docs/engine.html: /docs/engine.html: there is no /docs/engine.html"]);
});

test.each([
  ['<a href="#c">', "docs/engine.html: #c: docs/engine.html has no such heading"],
  ['<a href="./images.html#x">', "docs/engine.html: ./images.html#x: there is no docs/images.html"],
  ['<a href="/docs/">', "docs/engine.html: /docs/: there is no docs/index.html"],
  ['<script type="module" src="https://example.org/x.js">', "docs/engine.html: loads https://example.org/x.js from another host"],
  ['<link rel="preconnect" href="//example.org">', "docs/engine.html: loads //example.org from another host"],
  ["<style>a { background: url('https://example.org/x.png') }", "docs/engine.html: loads https://example.org/x.png from another host"],
  ['<img src="/missing.svg">', "docs/engine.html: loads /missing.svg, which is not there"],
])("%s is a fault", (html, fault) => {
  expect(faults(html)).toEqual([fault]);
});
