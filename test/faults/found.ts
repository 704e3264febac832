/** Faults that have shown a defect: they are in every sample. Scenario, and how the fault's description starts. */
export const FOUND: readonly (readonly [scenario: string, fault: string])[] = [
  // create waited for ever: init alone kept the rendezvous open.
  ["create", "kill in intermediate before sending pid"],
  ["create", "EIO in intermediate before sending pid"],
  // The program ran on although exec had failed.
  ["exec-detached", "kill in intermediate before sending pid"],
  ["exec-detached", "EIO in intermediate before sending pid"],
  // The end of the rendezvous was taken for execve: status 0, and no program.
  ["exec-detached", "kill in init after process.user"],
  ["run-detached", "kill in init before process.exec"],
  // A record that could not be read just then was taken for a damaged one, and with it the container was forgotten.
  ["delete-force", "EMFILE in runtime before readOwn /tmp/world/root/faulty/state.json"],
  ["delete-force", "EIO in runtime before readOwn /tmp/world/root/faulty/state.json"],
  // The directory of a container stayed that had never been one.
  ["run-detached", "EIO in runtime before flock"],
  // The file beside the pid file stayed, and the next create with this --pid-file failed.
  ["create", "ENOSPC in runtime before rename /tmp/world/pid."],
];
