/** A page of the manual, as tools/man-text.ts writes it, as Markdown with HTML for the site. Pure. */
import { escapeText } from "../../bench/svg.ts";

/** A reference to another page: its name and its section. */
type IsPage = (file: string) => boolean;

/**
 * @param roff The text of a page, such as that of man/runt.8.
 * @param isPage Whether a file such as `runt-create.8` has a page; other references are plain text.
 * @throws If the page uses a macro or an escape that it does not know.
 */
export function manualPage(roff: string, isPage: IsPage): string {
  const page = new Page(isPage);
  for (const line of roff.split("\n")) page.add(line);
  return page.end();
}

class Page {
  private readonly out: string[] = [];
  private readonly isPage: IsPage;
  /** Lines of the paragraph that is being read. */
  private text: string[] = [];
  /** In a list of terms, what comes next: the term or its text. */
  private list: "none" | "term" | "text" = "none";
  /** The terms of the list that is being read, with their texts. They are one block of HTML, which an empty line would end. */
  private terms: string[] = [];
  private code: string[] | undefined;

  constructor(isPage: IsPage) {
    this.isPage = isPage;
  }

  add(line: string): void {
    if (this.code !== undefined && line !== ".EE") this.code.push(literal(line));
    else if (line.startsWith(".")) this.macro(line);
    else if (line !== "") this.prose(inline(line));
  }

  end(): string {
    this.endList();
    return `${this.out.join("\n\n")}\n`;
  }

  private macro(line: string): void {
    const [, name = "", rest = ""] = /^\.(\S+) ?(.*)$/.exec(line) ?? [];
    const handle = this.macros[name];
    if (handle === undefined) throw new Error(`manual page: the macro .${name} is not known`);
    handle(rest);
  }

  private readonly macros: Readonly<Record<string, (rest: string) => void>> = {
    '\\"': () => {},
    nh: () => {},
    ad: () => {},
    TH: (rest) => this.title(rest),
    SH: (rest) => this.heading("##", rest),
    SS: (rest) => this.heading("###", rest),
    PP: () => this.endList(),
    TP: () => {
      this.endParagraph();
      this.list = "term";
    },
    br: () => {
      this.text.push("<br>");
    },
    BR: (rest) => this.prose(this.reference(rest)),
    EX: () => {
      this.endList();
      this.code = [];
    },
    EE: () => {
      this.out.push(["```sh", ...(this.code ?? []), "```"].join("\n"));
      this.code = undefined;
    },
  };

  private heading(level: string, rest: string): void {
    this.endList();
    this.out.push(`${level} ${headingOf(rest)}`);
  }

  private title(rest: string): void {
    const [name = "", section = ""] = rest.split(" ");
    this.out.push(`# ${literal(name).toLowerCase()}(${section})`);
  }

  private prose(html: string): void {
    if (this.list === "term") {
      this.terms.push(`<dt>${html}</dt>`);
      this.list = "text";
    } else this.text.push(html);
  }

  private reference(rest: string): string {
    const [, name = "", section = "", more = ""] = /^(\S+) \((\d)\)(\S*)$/.exec(rest) ?? [];
    if (name === "") throw new Error(`manual page: .BR ${rest} is not a reference`);
    const [file, shown] = [`${literal(name)}.${section}`, `<b>${inline(name)}</b>(${section})`];
    return `${this.isPage(file) ? `<a href="./${file}.html">${shown}</a>` : shown}${more}`;
  }

  private endParagraph(): void {
    if (this.text.length === 0) return;
    const html = this.text.join("\n");
    this.text = [];
    if (this.list === "none") this.out.push(`<p>${html}</p>`);
    else this.terms.push(`<dd>${html}</dd>`);
  }

  private endList(): void {
    this.endParagraph();
    if (this.terms.length > 0) this.out.push(`<dl>\n${this.terms.join("\n")}\n</dl>`);
    this.terms = [];
    this.list = "none";
  }
}

/** Only their initial letters stay large: a reader of a page is not shouted at. Headings of commands keep their letters. */
function headingOf(roff: string): string {
  const text = literal(roff);
  return /[a-z]/.test(text) ? `\`${text}\`` : text.charAt(0) + text.slice(1).toLowerCase();
}

const ESCAPES: Readonly<Record<string, string>> = { e: "\\", "-": "-", "&": "", "(ha": "^", "(ti": "~", "(ga": "`", "(aq": "'" };

function literal(roff: string): string {
  return roff.replace(/\\f[BIRP]/g, "").replace(/\\(\(..|.)/g, (_, name: string) => {
    const text = ESCAPES[name];
    if (text === undefined) throw new Error(`manual page: the escape \\${name} is not known`);
    return text;
  });
}

const TAGS: Readonly<Record<string, string>> = { B: "b", I: "i" };

/** Text with its fonts, as HTML. Braces are escaped, because two of them would be an expression of the site's templates. */
function inline(roff: string): string {
  let open = "";
  const parts = roff.split(/(\\f[BIRP])/).map((part) => {
    if (!/^\\f[BIRP]$/.test(part)) return escapeText(literal(part)).replaceAll("{", "&#123;").replaceAll("}", "&#125;");
    const [closed, tag] = [open, TAGS[part.slice(2)] ?? ""];
    open = tag;
    return `${closed && `</${closed}>`}${tag && `<${tag}>`}`;
  });
  return `${parts.join("")}${open && `</${open}>`}`;
}
