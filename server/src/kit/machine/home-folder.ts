// The home folder of the user who runs this process.

import { homedir } from 'node:os'

/** Undefined for a user without HOME and without an entry in /etc/passwd, such as the arbitrary user ids of containers. */
export function homeFolder(): string | undefined {
  try {
    return homedir() || undefined
  } catch {
    return undefined
  }
}
