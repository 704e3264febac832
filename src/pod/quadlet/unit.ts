/** One unit file with its drop-ins: values of its keys, and what is wrong with them. */
import type { Finding } from "../../engine/spec/index.ts";
import { Expansion, TooLong } from "../expansion.ts";
import { nearest } from "../proposal.ts";
import { COMMON, KINDS, type Kind, SECTIONS, type SectionName } from "./fields.ts";
import { type Specifiers, specifiersOf, withoutVariables, withSpecifiers } from "./specifiers.ts";
import { type Entry, readUnit, type Section } from "./unit-text.ts";
import { pairIn, wordsIn } from "./words.ts";

export interface UnitFile {
  /** Such as "web.container". */
  readonly name: string;
  /** Path, as the user has named it. */
  readonly file: string;
  readonly text: string;
}

/** A value, with the place of its key. */
export interface Value {
  readonly text: string;
  readonly entry: Entry;
}

export interface Told {
  readonly findings: Finding[];
  readonly warnings: Finding[];
}

function pointerTo(entry: Entry | undefined): string {
  return entry === undefined ? "" : `${entry.section}/${entry.key}`;
}

/** Of a directory. */
const MOST_FINDINGS = 1000;
const TRUE = /^(?:1|yes|y|true|t|on)$/i;
const FALSE = /^(?:0|no|n|false|f|off)$/i;

export class Unit {
  readonly kind: Kind;
  /** The name of the file without its suffix. */
  readonly base: string;
  /** Name of the service that Quadlet makes of it, without ".service". */
  readonly service: string;
  readonly file: string;
  readonly #sections: readonly Section[];
  readonly #specifiers: Specifiers;
  readonly #told: Told;
  readonly #expansion = new Expansion();

  /** @param dropIns files that come after it, in their order. @param instance of a template: its name without suffix, such as "a@1" */
  constructor(main: UnitFile, dropIns: readonly UnitFile[], host: Specifiers, told: Told, instance?: string) {
    const dot = main.name.lastIndexOf(".");
    this.kind = main.name.slice(dot + 1) as Kind;
    this.base = instance ?? main.name.slice(0, dot);
    this.file = main.file;
    this.#told = told;
    const read = [main, ...dropIns].map(({ text, file }) => readUnit(text, file));
    this.#sections = read.flatMap(({ sections }) => sections);
    for (const { message, file, line } of read.flatMap(({ wrong }) => wrong)) this.#tell("syntax", message, "", { file, line });
    const usual = ["container", "kube"].includes(this.kind) ? this.base : `${this.base}-${this.kind}`;
    this.#specifiers = specifiersOf(usual, host);
    this.service = this.text(KINDS[this.kind], "ServiceName")?.text ?? usual;
    this.#specifiers = specifiersOf(this.service, host);
    this.#check();
  }

  #check(): void {
    const own = KINDS[this.kind];
    for (const { name, entries, file, line } of this.#sections) {
      if (name.startsWith("X-")) continue;
      if (name !== own && !(COMMON as readonly string[]).includes(name)) {
        const isOther = (Object.values(KINDS) as readonly string[]).includes(name);
        this.#tell("shape", isOther ? `is no section of a file .${this.kind}` : "is a section of systemd, which does not run here", name, {
          file,
          line,
        });
        continue;
      }
      const fields = SECTIONS[name as SectionName];
      for (const entry of entries) {
        if (entry.key.startsWith("X-")) continue;
        if (this.#told.findings.length >= MOST_FINDINGS) return;
        const field = Object.hasOwn(fields, entry.key) ? fields[entry.key]! : undefined;
        if (field === undefined) {
          const near = nearest(entry.key, Object.keys(fields));
          this.refuse(`is not supported${near === undefined ? "" : `: is ${near} meant?`}`, entry);
        } else if (field.kind === "refused") this.refuse(`is not supported: ${field.says}`, entry);
        else if (field.kind === "idle" && field.isTold) this.warn(field.says, entry);
      }
    }
    if (!this.#sections.some(({ name }) => name === own) && this.#sections.length > 0) this.refuse(`has no section [${own}]`);
  }

  /** The last value; undefined: it is absent or empty. Quotes around the whole of it are left out. */
  text(section: SectionName, key: string): Value | undefined {
    const last = this.#entries(section, key).at(-1);
    if (last === undefined) return undefined;
    const [, inner] = /^"([^"]*)"$/s.exec(last.value) ?? [];
    return this.#expanded(inner ?? last.value, last);
  }

  /** As text, where a percent sign is one. */
  literal(section: SectionName, key: string): Value | undefined {
    const last = this.#entries(section, key).at(-1);
    return last === undefined ? undefined : { text: last.value, entry: last };
  }

  texts(section: SectionName, key: string): Value[] {
    return this.#entries(section, key).flatMap((entry) => this.#expanded(entry.value, entry) ?? []);
  }

  words(section: SectionName, key: string): Value[] {
    return this.#entries(section, key).flatMap((entry) => this.#split(entry).flatMap((word) => this.#expanded(word, entry) ?? []));
  }

  /** Words of the last value only; undefined: it is absent. */
  command(section: SectionName, key: string): Value[] | undefined {
    const last = this.#entries(section, key).at(-1);
    return last === undefined ? undefined : this.#split(last).flatMap((word) => this.#expanded(word, last) ?? []);
  }

  /** By their names, of which the last counts. */
  pairs(section: SectionName, key: string): Map<string, Value> {
    const found = new Map<string, Value>();
    for (const { text, entry } of this.words(section, key)) {
      const [name, value] = pairIn(text);
      if (value === undefined || name === "") this.refuse(`${JSON.stringify(text)} is no NAME=VALUE`, entry);
      else found.set(name, { text: value, entry });
    }
    return found;
  }

  flag(section: SectionName, key: string): { readonly is: boolean; readonly entry: Entry } | undefined {
    const value = this.text(section, key);
    if (value === undefined) return undefined;
    if (!TRUE.test(value.text) && !FALSE.test(value.text)) this.refuse("is true or false", value.entry);
    return { is: TRUE.test(value.text), entry: value.entry };
  }

  /** @param entry what it is about; absent: the file */
  refuse(message: string, entry?: Entry): void {
    this.#tell("shape", message, pointerTo(entry), entry ?? { file: this.file, line: 1 });
  }

  warn(message: string, entry?: Entry): void {
    if (this.#told.warnings.length >= MOST_FINDINGS) return;
    const place = entry ?? { file: this.file, line: 1 };
    this.#told.warnings.push({
      code: "shape",
      message,
      pointer: pointerTo(entry),
      document: 0,
      line: place.line,
      column: 1,
      file: place.file,
    });
  }

  #tell(code: Finding["code"], message: string, pointer: string, { file, line }: Pick<Entry, "file" | "line">): void {
    if (this.#told.findings.length < MOST_FINDINGS)
      this.#told.findings.push({ code, message, pointer, document: 0, line, column: 1, file });
  }

  /** An empty value takes back those before it. */
  #entries(section: SectionName, key: string): Entry[] {
    const all = this.#sections.filter(({ name }) => name === section).flatMap(({ entries }) => entries.filter((one) => one.key === key));
    return all.slice(all.findLastIndex(({ value }) => value === "") + 1);
  }

  #split(entry: Entry): string[] {
    try {
      return wordsIn(entry.value);
    } catch (error) {
      this.refuse((error as Error).message, entry);
      return [];
    }
  }

  #expanded(text: string, entry: Entry): Value | undefined {
    try {
      const expanded = withoutVariables(withSpecifiers(text, this.#specifiers));
      this.#expansion.take(Math.max(0, expanded.length - text.length));
      return { text: expanded, entry };
    } catch (error) {
      this.refuse(error instanceof TooLong ? "is too long with its specifiers" : (error as Error).message, entry);
      return undefined;
    }
  }
}
