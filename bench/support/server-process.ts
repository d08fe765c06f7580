// The server of a stack that startStackProcess started.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Its process number. For Linux. */
export function serverOf(dataDir: string): number {
  const found = readdirSync('/proc').find((one) => /^\d+$/.test(one) && isServer(one, dataDir))
  if (found === undefined) throw new Error(`No server runs in ${dataDir}.`)
  return Number(found)
}

function isServer(pid: string, dataDir: string): boolean {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return readlinkSync(`/proc/${pid}/cwd`) === dataDir && /main\.ts|serve\.js/.test(command) && !/leash/.test(command)
  } catch {
    return false // it has ended meanwhile
  }
}
