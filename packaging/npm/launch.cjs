"use strict";
// What npm puts into PATH under the names runt and runtctl: it starts the program of this machine, which is in a package of its own, and ends as it does.
// An engine is given that program itself: `node -p 'require.resolve("@runt-project/runt-linux-x64/bin/runt")'`.
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

/** As env(1) ends when there is no such program. */
const NOT_FOUND = 127;
/** A terminal sends these to the program, too. */
const OF_TERMINALS = ["SIGINT", "SIGQUIT", "SIGTSTP", "SIGWINCH"];
const PASSED_ON = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCONT"];

function programPath(name) {
  const needed = `@runt-project/runt-linux-${process.arch}`;
  try {
    return require.resolve(`${needed}/bin/${name}`);
  } catch {
    const why =
      process.platform === "linux" && ["arm64", "x64"].includes(process.arch)
        ? `the package ${needed} is not installed: npm leaves it out with --omit=optional`
        : `there is none for ${process.platform} on ${process.arch}`;
    process.stderr.write(`${name}: no program for this machine: ${why}\n`);
    return process.exit(NOT_FOUND);
  }
}

module.exports = function launch(name) {
  const path = programPath(name);
  // Before the program is there: a signal that comes as soon as it runs must not act on this process. Handlers run when this function has returned.
  let child;
  for (const signal of OF_TERMINALS) process.on(signal, () => undefined);
  for (const signal of PASSED_ON) process.on(signal, () => child.kill(signal));
  child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
  child.on("error", (error) => {
    process.stderr.write(`${name}: ${error.message}\n`);
    process.exitCode = NOT_FOUND;
  });
  child.on("exit", (status, signal) => {
    if (signal === null) process.exit(status);
    for (const own of [...OF_TERMINALS, ...PASSED_ON]) process.removeAllListeners(own);
    process.kill(process.pid, signal);
    // For the signals that end no process of Node.
    setTimeout(() => process.exit(128 + constants.signals[signal]), 100);
  });
};
