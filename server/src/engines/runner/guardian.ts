// Children must not outlive the server, however it ends. Node has no call of the kernel for that, so a shell waits beside it:
//  (1) every program waits at a gate until the shell has its process group; when the server ends before, the gate closes;
//  (2) the shell reads from a pipe that only the server holds; at the end of the pipe it kills every group it still has,
//      whatever left its group but carries the run's mark, and removes the run's folder (clear secrets).

import { type ChildProcess, spawn } from 'node:child_process'

export interface Guardian {
  /** Must be called before the gate of the program is opened. `undo` is a shell command run when the server dies, may be empty. */
  watch(group: number, folder: string, cpuSeconds: number, undo?: string): Promise<void>
  forget(group: number): void
  close(): Promise<void>
}

/** Where the programs of the system are; what the shell and the gate need is there on every Unix. */
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'

/** The first thing a program's process does: wait for a line on descriptor 3, then become the program. */
export const gated = (argv: readonly string[], fileBlocks: number, cpuSeconds: number): readonly string[] => [
  '/bin/sh',
  '-c',
  // Written limits: no core files, no single file beyond the disk quota of the run (in blocks of 512 bytes), and the run's mark.
  `ulimit -c 0; ulimit -t ${cpuSeconds} 2>/dev/null; ulimit -f ${fileBlocks}; read -r go <&3 && exec "$@" 3<&-`,
  'gate',
  ...argv,
]

/** As `gated`, of a program that is sent its job later: descriptor 3 stays open for it. */
export const gatedSpare = (argv: readonly string[], fileBlocks: number, cpuSeconds: number): readonly string[] =>
  gated(argv, fileBlocks, cpuSeconds).map((word) => word.replace(/ 3<&-$/, ''))

// Each watched program is one line: group, folder, mark, command to undo. No forks while the server lives; `TAB` stands for itself.
const SCRIPT = `
trap '' INT TERM HUP
newline='
'
live=''
while IFS='TAB' read -r op group folder mark undo; do
  case $op in
    watch) live="$live$groupTAB$folderTAB$markTAB$undo$newline"; echo "$group" ;;
    forget)
      rest=$live; live=''; IFS=$newline
      for line in $rest; do case $line in "$groupTAB"*) ;; *) live="$live$line$newline" ;; esac; done ;;
  esac
done
printf '%s' "$live" | while IFS='TAB' read -r group folder mark undo; do
  kill -9 -- "-$group" 2>/dev/null
  [ -n "$undo" ] && sh -c "$undo" >/dev/null 2>&1
  for found in $(grep -lazF "TMPDIR=$folder/tmp" /proc/[0-9]*/environ 2>/dev/null); do
    pid=DOLLAR{found#/proc/}; kill -9 "DOLLAR{pid%/environ}" 2>/dev/null
  done
  for found in $(grep -lsE "^Max cpu time +$mark " /proc/[0-9]*/limits); do
    pid=DOLLAR{found#/proc/}; kill -9 "DOLLAR{pid%/limits}" 2>/dev/null
  done
  rm -rf -- "$folder"
done
`
  .replaceAll('TAB', '\t')
  .replaceAll('DOLLAR', '$')

export function startGuardian(): Guardian {
  const shell = spawn('/bin/sh', ['-c', SCRIPT], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
    env: { PATH: SYSTEM_PATH },
  })
  const waiting = new Map<string, () => void>()
  readLines(shell, (line) => waiting.get(line)?.())
  // The server may end while the shell still writes; that is not an error.
  shell.stdin.on('error', () => {})

  return {
    watch: (group, folder, cpuSeconds, undo = '') =>
      new Promise((resolve, reject) => {
        const key = String(group)
        const lost = () => reject(new Error('the guardian of the component processes has ended'))
        if (shell.exitCode !== null || shell.signalCode !== null) return lost()
        shell.once('exit', lost)
        waiting.set(key, () => {
          shell.off('exit', lost)
          waiting.delete(key)
          resolve()
        })
        shell.stdin.write(`watch\t${key}\t${folder}\t${cpuSeconds}\t${undo}\n`)
      }),
    forget: (group) => void shell.stdin.write(`forget\t${group}\n`),
    close: () =>
      new Promise((resolve) => {
        if (shell.exitCode !== null || shell.signalCode !== null) return resolve()
        shell.once('exit', () => resolve())
        shell.stdin.end()
      }),
  }
}

function readLines(shell: ChildProcess, onLine: (line: string) => void): void {
  let rest = ''
  shell.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  })
}
