/** The site of the documentation: pages of build/site/pages, which tools/site.ts writes. Nothing in it comes from another host. */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type DefaultTheme, defineConfig } from "vitepress";
import { licencesOf } from "../../tools/site/licences.ts";
import { anchorOf, pageOf, siteAddress } from "../../tools/site/links.ts";
import { type Group, PARTS } from "../../tools/site/navigation.ts";
import { tokensOf } from "./tokens.ts";

const OUT = fileURLToPath(new URL("../../build/site/", import.meta.url));
const PAGES: ReadonlySet<string> = new Set(
  readdirSync(`${OUT}pages`, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md")),
);

const addressOf = (path: string) => `/${pageOf(path).replace(/\.md$/, ".html")}`;
const group = ({ title, pages }: Group): DefaultTheme.SidebarItem => ({
  text: title,
  items: pages.map(([text, path]) => ({ text, link: addressOf(path) })),
});

export default defineConfig({
  lang: "en",
  title: "runt",
  description: "An OCI container runtime that compiles a bundle into a plan before it acts",
  base: process.env["SITE_BASE"] ?? "/",
  srcDir: `${OUT}pages`,
  outDir: `${OUT}html`,
  cacheDir: `${OUT}cache`,
  metaChunk: true,
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    // The pages are those that GitHub shows: no name becomes a link by itself, and braces have no meaning.
    linkify: false,
    attrs: { disable: true },
    anchor: { slugify: anchorOf },
    config(md) {
      md.core.ruler.disable("emoji");
      const open = md.renderer.rules.link_open!;
      md.renderer.rules.link_open = (tokens, index, options, env, self) => {
        const token = tokens[index]!;
        const address = token.attrGet("href") ?? "";
        if (!token.attrGet("class")?.includes("header-anchor")) token.attrSet("href", siteAddress(env.relativePath, address, PAGES));
        return open(tokens, index, options, env, self);
      };
      for (const rule of ["text", "code_inline"] as const) {
        const render = md.renderer.rules[rule]!;
        md.renderer.rules[rule] = (...all) => render(...all).replaceAll("{{", "&#123;&#123;");
      }
    },
  },
  themeConfig: {
    outline: { level: [2, 3], label: "On this page" },
    nav: PARTS.map(({ title, groups }) => ({
      text: title,
      items: groups.map(({ title: text, pages }) => ({ text, link: addressOf(pages[0]![1]) })),
    })),
    // VitePress takes the first one of the most folders that fits.
    sidebar: Object.fromEntries(
      PARTS.flatMap(({ places, groups }) => places.map((place) => [place, groups.map(group)] as const)).sort(
        ([one], [other]) => other.length - one.length,
      ),
    ),
    search: {
      provider: "local",
      options: { miniSearch: { options: { tokenize: tokensOf }, searchOptions: { fuzzy: 0.1, prefix: true, combineWith: "AND" } } },
    },
    footer: { message: 'Licence: Apache-2.0. <a href="/licences.txt">Licences of the scripts of this site</a>' },
  },
  vite: {
    // Only the search of another company's servers uses it, and its package has no text of its licence.
    resolve: { alias: [{ find: "@docsearch/css", replacement: fileURLToPath(new URL("./theme/none.css", import.meta.url)) }] },
    plugins: [
      {
        name: "licences",
        apply: "build",
        generateBundle(_, bundle) {
          const modules = Object.values(bundle).flatMap((part) => (part.type === "chunk" ? Object.keys(part.modules) : []));
          this.emitFile({ type: "asset", fileName: "licences.txt", source: licencesOf(modules) });
        },
      },
    ],
  },
});
