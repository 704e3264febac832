/** Faults of the built site that need no browser: links and anchors that lead nowhere, and addresses from which a page would load something. Pure. */
import { posix } from "node:path";

/** Path relative to the root of the site -> text; of pictures and other files only the name is used. */
type Files = ReadonlyMap<string, string>;

const LINK = /<a\b[^>]*?\shref="([^"]*)"/g;
const LOADED = /<(?:script|img|iframe|source|audio|video|embed)\b[^>]*?\ssrc="([^"]*)"|<link\b[^>]*?\shref="([^"]*)"/g;
const OF_STYLE = /url\(\s*["']?([^"')\s]+)|@import\s+["']([^"']+)/g;
const ID = /\sid="([^"]+)"/g;
const OUTSIDE = /^(?:[a-z][a-z\d+.-]*:)?\/\//i;

/** One line for each fault. `base` is the path of the site on its host, such as "/". */
export function siteFaults(files: Files, base: string): string[] {
  const anchors = new Map([...files].filter(([path]) => path.endsWith(".html")).map(([path, html]) => [path, idsOf(html)]));
  return [...files].flatMap(([path, text]) => {
    if (path.endsWith(".css")) return loadedFaults(path, text, [OF_STYLE], files, base);
    if (!path.endsWith(".html")) return [];
    return [...linkFaults(path, text, anchors, files, base), ...loadedFaults(path, text, [LOADED, OF_STYLE], files, base)];
  });
}

const idsOf = (html: string): ReadonlySet<string> => new Set([...html.matchAll(ID)].map(([, id = ""]) => unescaped(id)));

function linkFaults(path: string, html: string, anchors: ReadonlyMap<string, ReadonlySet<string>>, files: Files, base: string): string[] {
  const addresses = new Set([...html.matchAll(LINK)].map(([, address = ""]) => unescaped(address)));
  return [...addresses].flatMap((address) => {
    if (/^[a-z][a-z\d+.-]*:/i.test(address)) return [];
    const [, target = "", anchor] = /^([^#]*)(?:#(.*))?$/.exec(address) ?? [];
    const file = target === "" ? path : fileOf(path, target, base);
    if (!files.has(file)) return [`${path}: ${address}: there is no ${file}`];
    if (anchor === undefined || anchor === "" || anchors.get(file)?.has(decodeURIComponent(anchor))) return [];
    return [`${path}: ${address}: ${file} has no such heading`];
  });
}

function loadedFaults(path: string, text: string, patterns: readonly RegExp[], files: Files, base: string): string[] {
  const addresses = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, first, second]) => unescaped(first ?? second ?? "")));
  return [...new Set(addresses)].flatMap((address) => {
    if (/^(?:data:|#)/.test(address)) return [];
    if (OUTSIDE.test(address)) return [`${path}: loads ${address} from another host`];
    const file = fileOf(path, address.replace(/[?#].*$/, ""), base);
    return files.has(file) ? [] : [`${path}: loads ${address}, which is not there`];
  });
}

/** The file that a server sends for an address. */
function fileOf(page: string, address: string, base: string): string {
  const decoded = decodeURI(address);
  const absolute = decoded.startsWith("/") ? decoded : posix.join(base, posix.dirname(page), decoded);
  if (!absolute.startsWith(base)) return absolute;
  const path = absolute.slice(base.length);
  return path === "" || path.endsWith("/") ? `${path}index.html` : path;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const unescaped = (text: string) => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name]!);
