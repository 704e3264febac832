import { entryOf, sectionText } from "../../check/catalogue/index.ts";
import type { BundleView, Located, Severity } from "../../check/index.ts";
import { countFindings, liveView, ordinaryView, recordedView, validate } from "../../diagnostics/validate/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { chosenHostFacts, encodingText, unreadableConfig } from "../../prepare/index.ts";
import { absolutePath, text, type Verb, type VerbContext } from "../context.ts";
import { findingsSarif } from "../findings-sarif.ts";
import { type FindingsHeader, findingsDocument, findingsText, jsonText, summaryText } from "../findings-text.ts";
import { print } from "../output.ts";
import { styleOf } from "../style.ts";

/**
 * So many findings of one code are looked at for people; of more the number counts. Where checks do not go through the file from its beginning, those
 * in front may be among them.
 */
const MOST_OF_ONE_CODE = 1000;
const LEVELS: readonly Severity[] = ["advice", "warning", "error"];
const FORMATS = ["text", "json", "sarif"];
const TEXTS = { entryOf, sectionText };

export const verb: Verb = (context) => {
  const { flags, positionals } = context;
  const format = oneOf(flags["format"], FORMATS, "text", "format");
  const failOn = oneOf(flags["fail-on"], LEVELS, "error", "fail-on");
  const names = positionals.length === 0 ? [undefined] : positionals;
  // Of several files one that cannot be read does not keep the others from being looked at.
  const failures: RuntError[] = [];
  const examined = names.flatMap((name) => {
    try {
      return [examineNamed(context, name)];
    } catch (error) {
      if (names.length === 1 || !(error instanceof RuntError) || error.code !== "config-read") throw error;
      failures.push(error);
      return [];
    }
  });
  if (flags["quiet"] !== true) print(render(format, examined, names.length));
  const [unread] = failures;
  if (unread) {
    throw failures.length === 1
      ? unread
      : new RuntError(unread.code, `${unread.message} (and ${failures.length - 1} more)`, unread.details);
  }
  const failing = LEVELS.slice(LEVELS.indexOf(failOn));
  return examined.some(({ counts }) => failing.some((level) => counts[level] > 0)) ? 1 : 0;
};

interface Examined {
  readonly header: FindingsHeader;
  readonly located: Located;
  readonly counts: ReturnType<typeof countFindings>;
}

/** `name`: of a file, of a bundle, or "-"; undefined: the bundle of --bundle, or this directory. @throws RuntError config-read */
function examineNamed(context: VerbContext, name: string | undefined): Examined {
  const { flags, options } = context;
  const { file, bundle } = locateConfig(context, name);
  const choice = text(flags["host"]) ?? "live";
  const view = hostView(choice, bundle, options.root);
  const rootless = flags["rootless"] === true || callerUid(view) !== 0;
  const located = examineFile(file, view, rootless, context);
  return { header: { file, host: hostText(choice, view) }, located, counts: countFindings([...located.findings, ...located.others]) };
}

/** Of who would make the container. */
function callerUid(view: BundleView): number {
  return view.live ? host.geteuid() : (view.facts.caller?.uid ?? 0);
}

function oneOf<T extends string>(value: unknown, known: readonly T[], otherwise: T, name: string): T {
  const found = known.find((candidate) => candidate === (value ?? otherwise));
  if (found === undefined) throw new RuntError("usage", `invalid value "${String(value)}" for flag -${name}: use ${known.join(", ")}`);
  return found;
}

const CONFIG = "config.json";

/** The file as it is named in what is printed, and the directory that relative paths in it start from. */
function locateConfig({ flags }: VerbContext, name: string | undefined): { readonly file: string; readonly bundle: string | undefined } {
  const given = text(flags["bundle"]);
  if (name === "-") return { file: "-", bundle: given === undefined ? undefined : absolutePath(given) };
  const isBundle = name !== undefined && host.stat(name)?.mode !== undefined && (host.stat(name)?.mode ?? 0) >> 12 === 4;
  const directory = name === undefined ? given : isBundle ? name : undefined;
  if (name === undefined || directory !== undefined) {
    const base = directory?.replace(/\/+$/, "");
    return { file: base === undefined ? CONFIG : `${base}/${CONFIG}`, bundle: absolutePath(given ?? directory ?? ".") };
  }
  const slash = name.lastIndexOf("/");
  return { file: name, bundle: absolutePath(given ?? (slash === -1 ? "." : name.slice(0, slash) || "/")) };
}

function hostView(choice: string, bundle: string | undefined, stateRoot: string): BundleView {
  if (choice === "live") return liveView(bundle, stateRoot);
  const facts = chosenHostFacts(choice);
  return choice === "none" ? ordinaryView(facts, bundle) : recordedView(facts, bundle);
}

function hostText(choice: string, view: BundleView): string {
  if (choice === "none") return "no host";
  return `${choice === "live" ? "live host" : `host ${choice}`}, cgroup v${view.facts.cgroup?.version ?? 2}`;
}

/** @throws RuntError config-read */
function examineFile(file: string, view: BundleView, rootless: boolean, { options, flags }: VerbContext): Located {
  let content: string;
  try {
    content = file === "-" ? host.readFd(0) : host.readFile(file);
  } catch (error) {
    if (host.isErrno(error, "EILSEQ")) {
      const message = file === "-" ? "it has bytes that are not UTF-8" : encodingText(file);
      return { findings: [{ code: "config-encoding", severity: "error", pointer: "", message, line: 1, column: 1 }], others: [] };
    }
    throw unreadableConfig(file, error);
  }
  // Programs get them all.
  const isText = oneOf(flags["format"], FORMATS, "text", "format") === "text";
  return validate(content, { view, rootless, systemd: options.systemd === true, ...(isText && { most: MOST_OF_ONE_CODE }) });
}

/** `named`: how many files were asked for; with several the JSON is a list. */
function render(format: string, examined: readonly Examined[], named: number): string {
  if (format === "json") {
    const documents = examined.map(({ located, header, counts }) => findingsDocument(located.findings, header, counts, TEXTS));
    return jsonText(named === 1 ? documents[0] : documents);
  }
  if (format === "sarif") {
    return findingsSarif(
      examined.map(({ located: { findings }, header: { file } }) => ({ file, findings })),
      host.build.version,
      TEXTS,
    );
  }
  const [first] = examined;
  if (first === undefined) return "";
  const total = examined.reduce(
    (sum, { counts }) => ({
      error: sum.error + counts.error,
      warning: sum.warning + counts.warning,
      advice: sum.advice + counts.advice,
    }),
    { error: 0, warning: 0, advice: 0 },
  );
  return textOf(examined) + summaryText(total, first.header, examined.length);
}

function textOf(examined: readonly Examined[]): string {
  const style = styleOf(1);
  return examined.map(({ located, header }) => findingsText(located, header, TEXTS, style)).join("");
}
