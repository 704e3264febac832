/**
 * The rules of prose that a program can check. Limits and patterns are set so that they give no false alarm on the pages of this repository.
 * Left out, because they did: readability scores (names of fields count as hard words), simpler words and hedges (retext-simplify and
 * retext-equality know no containers), "a" and "an" (retext-indefinite-article spells abbreviations out: "an uts", "a RDMA"), spelling (half of the
 * words are names), missing verbs (table cells are notes), words that are used before they are defined (the same word is a term on one page and
 * plain English on another: "plan", "record", "task").
 */
import type { Paragraph, Root, Sentence } from "nlcst";
import { toString as textOf } from "nlcst-to-string";
import retextEnglish from "retext-english";
import retextPassive from "retext-passive";
import retextRepeatedWords from "retext-repeated-words";
import { unified } from "unified";
import { VFile } from "vfile";
import type { VFileMessage } from "vfile-message";
import { type Block, CODE } from "./blocks.ts";

export interface Problem {
  readonly line: number;
  readonly message: string;
}

/** Columns of a line of prose. Tables, code and lines with a long address are exempt. */
export const LONGEST_LINE = 120;
/** Words of a sentence; inline code is one word. */
export const LONGEST_SENTENCE = 40;
/** Share of the sentences of a page that have a passive; pages with fewer sentences than LEAST_SENTENCES are not judged. */
export const MOST_PASSIVE = 0.4;
const LEAST_SENTENCES = 30;

/** First words that begin a fragment or an inversion. Questions are exempt. */
const FRAGMENT = /^(?:Of|Those|Who|Whose|Whoever)\b(?! course\b)/;
/** "Its" may begin a sentence ("Its mount ends with it."), so it is a fragment only without any word that can be a verb. */
const ITS_FRAGMENT = /^Its(?! \w+.* (?:is|are|was|were|has|have|had|can|could|may|must|do|does|did|will|\w+s|\w+ed)\b)/;

/** Pattern, and what to write in its place. */
const FORBIDDEN: readonly (readonly [RegExp, string])[] = [
  [
    /(?<!\b(?:as|user|group|by|to|and|or|like) )(?<!["(])\bnobody\b(?!['")]|\s+(?:user|group)\b|:)/i,
    'say what does not happen, with a subject ("no process reads it")',
  ],
  [/\bsomebody\b/i, "name who: the user, an administrator, another program"],
  [/\bwhoever\b/i, "name who: the user, the caller, the process"],
  [/\bwhat is not there\b/i, 'name it ("missing fields")'],
  [/[,;:] of (?:\w+ ){1,3}\w+ it is\b/, "begin with the subject"],
  [/\bhears of\b|\bstumbles?\b|\bsecond door\b|\blast words\b/i, "say it without the metaphor"],
  [/\bis none of\b/i, 'use "is not one of" or name what it is'],
  [/\bhas no need of\b/i, 'use "does not need"'],
  [/\b(?:wants|wanted) to be\b/i, "say what it needs"],
  [/\ball that (?:is|are)\b|\bwhat there is\b/i, "name the things"],
];

/** The faults of a page, in the order of its lines. `markdown`: its source, for the length of the lines; a man page has none. */
export function problemsOf(blocks: readonly Block[], markdown?: string): Problem[] {
  const read = blocks.map(readBlock);
  const problems = [...(markdown === undefined ? [] : longLines(blocks, markdown)), ...read.flatMap((block) => block.problems)];
  // Cells of tables are notes: only running text is judged by its voice.
  const running = read.filter(({ kind }) => kind === "paragraph");
  const sentences = sum(running.map((block) => block.sentences));
  const ratio = sentences < LEAST_SENTENCES ? 0 : sum(running.map((block) => block.passive)) / sentences;
  if (ratio > MOST_PASSIVE) problems.push({ line: 1, message: `${Math.round(ratio * 100)} % of the sentences are passive: name who acts` });
  return problems.sort((a, b) => a.line - b.line);
}

function readBlock({ line: start, kind, text }: Block) {
  // A short cell cannot have a long sentence: parsing all cells of all pages would take most of the time.
  if (kind === "cell" && text.split(/\s+/).length <= LONGEST_SENTENCE) {
    const problems: Problem[] = faultsOf(text, kind, 0).map((message) => ({ line: start, message }));
    return { kind, problems, sentences: 0, passive: 0 };
  }
  const file = new VFile(text.replace(BEGUN_IN_LOWER_CASE, (begin) => begin.slice(0, -1) + begin.slice(-1).toUpperCase()));
  const tree = english.parse(file) as Root;
  english.runSync(tree, file);
  const lineOf = (line: number | undefined) => start + (line ?? 1) - 1;
  const sentences = sentencesOf(tree);
  const ofSentences = sentences.flatMap((sentence) =>
    faultsOf(textOf(sentence).replace(/\s+/g, " "), kind, words(sentence)).map((message) => ({
      line: lineOf(sentence.position?.start.line),
      message,
    })),
  );
  const repeated = file.messages.filter(({ source, reason }) => source === "retext-repeated-words" && !reason.includes(CODE));
  const problems: Problem[] = [...ofSentences, ...repeated.map(({ line, reason }) => ({ line: lineOf(line), message: reason }))];
  const places = file.messages.filter(({ source }) => source === "retext-passive").map(({ place }) => offsetOf(place));
  const passive = sentences.filter((sentence) => {
    const [from, to] = [sentence.position?.start.offset ?? 0, sentence.position?.end.offset ?? 0];
    return REGULAR_PASSIVE.test(textOf(sentence)) || places.some((at) => at >= from && at < to);
  });
  return { kind, problems, sentences: sentences.length, passive: passive.length };
}

/** Sentences that begin with the name of a program, which the parser takes for a part of the sentence before. */
const BEGUN_IN_LOWER_CASE =
  /[.!?]\)?\s+[a-z](?=(?:unt(?:d|ctl)?|unc|run|ontainerd|onmon|riu|ystemd|nit|kopeo|moci|ouki|ubelet|npm|ode)\b)/g;
/** retext-passive knows irregular participles only. */
const REGULAR_PASSIVE = /\b(?:am|is|are|was|were|be|been|being)\s+(?:(?:not|also|then|only|never|\w+ly)\s+)?[a-z]{2,}ed\b/;
const offsetOf = (place: VFileMessage["place"]): number =>
  place === undefined ? -1 : (("start" in place ? place.start.offset : place.offset) ?? -1);
const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);

const english = unified().use(retextEnglish).use(retextPassive).use(retextRepeatedWords).freeze();

function sentencesOf(tree: Root): Sentence[] {
  const paragraphs = tree.children.filter((node): node is Paragraph => node.type === "ParagraphNode");
  return paragraphs.flatMap(({ children }) => children.filter((node): node is Sentence => node.type === "SentenceNode"));
}

const words = (sentence: Sentence) => sentence.children.filter(({ type }) => type === "WordNode").length;

function faultsOf(sentence: string, kind: Block["kind"], length: number): string[] {
  const shown = sentence.length > 60 ? `${sentence.slice(0, 60)}...` : sentence;
  const faults: string[] = [];
  if (length > LONGEST_SENTENCE) faults.push(`a sentence of ${length} words (at most ${LONGEST_SENTENCE}): ${shown}`);
  const opening = (FRAGMENT.exec(sentence) ?? ITS_FRAGMENT.exec(sentence))?.[0];
  if (kind === "paragraph" && opening !== undefined && !/[?:]$/.test(sentence))
    faults.push(`begins with "${opening}"; begin with the subject: ${shown}`);
  for (const [pattern, advice] of FORBIDDEN) {
    const found = pattern.exec(sentence);
    if (found) faults.push(`"${found[0]}": ${advice}`);
  }
  return faults;
}

function longLines(blocks: readonly Block[], markdown: string): Problem[] {
  const lines = markdown.split("\n");
  return blocks
    .filter(({ kind }) => kind === "paragraph")
    .flatMap(({ line, text }) => text.split("\n").map((_, index) => line + index))
    .filter((line) => (lines[line - 1]?.length ?? 0) > LONGEST_LINE && !/\S{80}/.test(lines[line - 1] ?? ""))
    .map((line) => ({ line, message: `a line of ${lines[line - 1]?.length} columns (at most ${LONGEST_LINE})` }));
}
