// Whether an SSH server is the one that is meant: by the fingerprint of its key, as `ssh-keygen -l` prints it.

import { UserError } from '../../http-extractor/src/errors.ts'
import { hostKeyFingerprint } from '../../http-extractor/src/http/host-key-fingerprint.ts'
import { type Fields, textAt } from './settings.ts'

/** Empty: any server is accepted. */
export function hostKeyAt(fields: Fields, path: string): string {
  const text = textAt(fields, 'hostKey', path)
  if (text === '' || /^SHA256:[A-Za-z0-9+/]{43}$/.test(text)) return text
  throw new UserError(
    `${path} must be a fingerprint such as SHA256:abc..., with 43 characters behind the colon. Print it with ssh-keygen -l.`,
  )
}

/** Called once for each server whose key is not compared. The program logs it. */
let onUnchecked: (line: string) => void = () => {}
const told = new Set<string>()

export const logUncheckedKeys = (log: (line: string) => void): void => {
  onUnchecked = log
  told.clear()
}

function tell(server: string, key: string): void {
  if (told.has(server)) return
  told.add(server)
  onUnchecked(
    `The SSH server ${server} has the host key ${key}. It is not checked, since hostKey is empty: set hostKey to it if it is the right one.`,
  )
}

/** Options of a connection, and the error of a server with another key. */
export function hostKeyCheck(expected: string, server: string) {
  let found = ''
  return {
    options: {
      hostVerifier: (key: Buffer): boolean => {
        found = hostKeyFingerprint(key)
        if (expected === '') tell(server, found)
        return expected === '' || found === expected
      },
    },
    /** Undefined: the key was not the reason. */
    problem: (): UserError | undefined =>
      found === '' || expected === '' || found === expected
        ? undefined
        : new UserError(
            `The SSH server ${server} has the host key ${found}, not ${expected}. Check that it is the right server before you change hostKey.`,
          ),
  }
}
