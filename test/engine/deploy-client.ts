/**
 * A client of a service, as a process of its own: asks all the time, by connections of their own and by some that are kept, until its standard input ends. Then it prints what
 * has come as JSON (ClientReport).
 */

export interface ClientReport {
  readonly requests: number;
  /** Number of answers by the version in them. */
  readonly versions: Readonly<Record<string, number>>;
  /** Answers with a status of 500 and up, by the version in them. */
  readonly errors: Readonly<Record<string, number>>;
  /** What was not answered: how it was asked, why it has failed, when it began in milliseconds since the epoch, and after how many milliseconds it failed. */
  readonly failures: readonly (readonly [kind: "kept" | "own", why: string, atMs: number, tookMs: number])[];
  /** Connections that were closed without an answer that had announced it. */
  readonly cut: readonly (readonly [why: string, atMs: number])[];
  /** Kept connections that were opened. */
  readonly connections: number;
}

const KEPT = 10;
/** A client that the machine lets wait does not send all that it is told to at once. */
const MOST_OPEN = 40;

/** Command line. Half of the requests have a connection of their own. */
export function deployClient(port: number, perSecond: number): string[] {
  return [
    process.execPath,
    "-e",
    `const http = require('http'), net = require('net');
const report = { requests: 0, versions: {}, errors: {}, failures: [], cut: [], connections: 0 };
const count = (map, text) => { map[text] = (map[text] ?? 0) + 1; };
let open = 0, over = false;
const take = (kind, begun, status, text) => {
  const version = text.trim().split(' ')[1] ?? text;
  count(status < 500 ? report.versions : report.errors, version);
};
const own = () => {
  open++; report.requests++;
  const begun = Date.now(); let done = false;
  const end = (why) => { if (done) return; done = true; open--; if (why) report.failures.push(['own', why, begun, Date.now() - begun]); };
  http.get({ port: ${port}, agent: false, timeout: 20000 }, (r) => { let t = ''; r.on('data', (d) => { t += d; });
    r.on('end', () => { if (!done) take('own', begun, r.statusCode, t); end(); }).on('error', (e) => end(e.message)).on('aborted', () => end('aborted')); })
    .on('timeout', function () { this.destroy(new Error('silence')); }).on('error', (e) => end(e.code ?? e.message));
};
/* A connection that asks again and again, and is opened anew when the server has announced its end. */
const kept = (everyMs) => {
  let socket, begun, text = '', timer, announced = false, asked = 0;
  const connect = () => {
    if (over) return;
    announced = false; text = ''; begun = undefined; asked = 0;
    const opened = Date.now();
    report.connections++;
    const mine = socket = net.connect(${port}, '127.0.0.1', () => mine === socket && ask());
    socket.setNoDelay(true).setTimeout(20000, () => mine.destroy(new Error('silence')));
    socket.on('data', (d) => {
      text += d;
      const head = text.indexOf('\\r\\n\\r\\n');
      if (head < 0) return;
      const length = Number(/content-length: (\\d+)/i.exec(text)[1]);
      if (text.length < head + 4 + length) return;
      take('kept', begun, Number(text.split(' ')[1]), text.slice(head + 4));
      announced = /connection: close/i.test(text.slice(0, head));
      open--; begun = undefined; text = '';
      if (!announced) timer = setTimeout(() => mine === socket && ask(), everyMs);
    });
    socket.on('error', (e) => failed(mine, e.code ?? e.message, opened)).on('close', () => failed(mine, 'closed', opened));
  };
  const failed = (mine, why, opened) => {
    if (mine !== socket) return;
    socket = undefined; clearTimeout(timer);
    if (begun !== undefined) open--;
    /* One that could not be opened has failed, and one that was there was cut. */
    if (begun !== undefined || asked === 0) report.failures.push(['kept', why, begun ?? opened, Date.now() - (begun ?? opened)]);
    if (!announced && asked > 0) report.cut.push([why, Date.now()]);
    setTimeout(connect, announced ? 5 : 100);
  };
  const ask = () => {
    if (over) { const mine = socket; socket = undefined; mine.destroy(); return; }
    open++; report.requests++; asked++; begun = Date.now();
    socket.write('GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n');
  };
  connect();
};
console.log('up');
const timer = setInterval(() => { if (open < ${MOST_OPEN}) own(); }, ${2000 / perSecond});
for (let at = 0; at < ${KEPT}; at++) setTimeout(() => kept(${(2000 * KEPT) / perSecond}), at * 7);
process.stdin.resume().on('end', () => { over = true; clearInterval(timer);
  const waits = setInterval(() => { if (open === 0) { clearInterval(waits); process.stdout.write(JSON.stringify(report) + '\\n', () => process.exit()); } }, 10); });`,
  ];
}
