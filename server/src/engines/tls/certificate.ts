// The certificate that both listeners present: from two files, which are read again when they change, or issued by a local authority.

import { readFileSync, statSync, unwatchFile, watchFile } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { PlatformError } from '../../kit/errors.ts'

export interface KeyPair {
  /** PEM, with the certificates between it and the authority. */
  readonly cert: string
  readonly key: string
}

export interface Certificate {
  current(): KeyPair
  /** Called with the new pair after the files have changed and fit together. */
  onChange(listener: (pair: KeyPair) => void): void
  close(): void
}

export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
  /** A change that cannot be used leaves the old pair in place. */
  readonly onError: (error: unknown) => void
  readonly checkEveryMs?: number
}

export function openCertificate({ certFile, keyFile, onError, checkEveryMs = 2000 }: CertificateFiles): Certificate {
  const listeners: ((pair: KeyPair) => void)[] = []
  let pair = readPair(certFile, keyFile)

  const reload = () => {
    try {
      const next = readPair(certFile, keyFile)
      if (next.cert === pair.cert && next.key === pair.key) return
      pair = next
      for (const listener of listeners) listener(pair)
    } catch (error) {
      onError(error)
    }
  }
  for (const file of [certFile, keyFile]) watchFile(file, { interval: checkEveryMs, persistent: false }, reload)

  return {
    current: () => pair,
    onChange: (listener) => void listeners.push(listener),
    close: () => {
      for (const file of [certFile, keyFile]) unwatchFile(file, reload)
    },
  }
}

/** Throws unless both files can be read and belong together. */
function readPair(certFile: string, keyFile: string): KeyPair {
  for (const file of [certFile, keyFile])
    if (!statSync(file, { throwIfNoEntry: false })?.isFile())
      throw new PlatformError('stack.certificate', { file, reason: 'there is no such file' })
  try {
    const pair = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
    createSecureContext(pair)
    return pair
  } catch (error) {
    throw new PlatformError('stack.certificate', { file: certFile, reason: (error as Error).message }, { cause: error }) // of node:tls
  }
}
