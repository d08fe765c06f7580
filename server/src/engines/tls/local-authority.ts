// A certificate authority of this stack alone, made on request: for machines and networks without one of their own. Clients trust it
// by its certificate, authority.pem; its key never leaves the data folder.

import { webcrypto } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type * as X509 from '@peculiar/x509'
import type { Clock } from '../../kit/clock.ts'

const DAY_MS = 24 * 3_600_000
const AUTHORITY_DAYS = 3650
/** Browsers refuse certificates that are valid for longer. */
const SERVER_DAYS = 397
const RENEW_BEFORE_DAYS = 60
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

export interface LocalFiles {
  readonly authorityFile: string
  readonly certFile: string
  readonly keyFile: string
}

/** Loaded only by stacks with a local authority: a tenth of a second that other starts need not spend. */
async function loadX509(): Promise<typeof X509> {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

/** Makes what is missing, renews what is about to end or lacks a name, and answers where it lies. */
export async function ensureLocalCertificate(folder: string, names: readonly string[], clock: Clock): Promise<LocalFiles> {
  const x509 = await loadX509()
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const files = {
    authorityFile: join(folder, 'authority.pem'),
    certFile: join(folder, 'server.pem'),
    keyFile: join(folder, 'server.key'),
  }
  if (await isUsable(x509, files, names, clock)) return files
  const authority = await openAuthority(x509, folder, files.authorityFile, clock)
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const issued = await x509.X509CertificateGenerator.create(
    {
      subject: `CN=${names[0] ?? 'localhost'}, O=Millrace`,
      issuer: authority.certificate.subject,
      ...validity(clock, SERVER_DAYS),
      publicKey: keys.publicKey,
      signingKey: authority.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(names.map((name) => ({ type: isIP(name) ? 'ip' : 'dns', value: name }))),
      ],
    },
    webcrypto,
  )
  await writeKey(x509, files.keyFile, keys.privateKey)
  await writeFile(files.certFile, `${issued.toString('pem')}\n`)
  return files
}

async function openAuthority(x509: typeof X509, folder: string, certFile: string, clock: Clock) {
  const keyFile = join(folder, 'authority.key')
  const known = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]).catch(() => undefined)
  if (known) return { certificate: new x509.X509Certificate(known[0]), privateKey: await readKey(x509, known[1]) }
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=Millrace local authority, O=Millrace',
      ...validity(clock, AUTHORITY_DAYS),
      keys,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      ],
    },
    webcrypto,
  )
  await writeKey(x509, keyFile, keys.privateKey)
  await writeFile(certFile, `${certificate.toString('pem')}\n`)
  return { certificate, privateKey: keys.privateKey }
}

async function isUsable(
  x509: typeof X509,
  { certFile, keyFile }: LocalFiles,
  names: readonly string[],
  clock: Clock,
): Promise<boolean> {
  const texts = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile)]).catch(() => undefined)
  if (!texts) return false
  const certificate = new x509.X509Certificate(texts[0])
  const covered = certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.items.map(({ value }) => value) ?? []
  const endsIn = certificate.notAfter.getTime() - clock.now().getTime()
  return endsIn > RENEW_BEFORE_DAYS * DAY_MS && names.every((name) => covered.includes(name))
}

const validity = (clock: Clock, days: number) => {
  const now = clock.now().getTime()
  return { notBefore: new Date(now - DAY_MS), notAfter: new Date(now + days * DAY_MS) }
}

async function writeKey(x509: typeof X509, file: string, key: webcrypto.CryptoKey): Promise<void> {
  const bytes = await webcrypto.subtle.exportKey('pkcs8', key)
  await writeFile(file, `${x509.PemConverter.encode(bytes, 'PRIVATE KEY')}\n`, { mode: 0o600 })
}

const readKey = async (x509: typeof X509, pem: string): Promise<webcrypto.CryptoKey> =>
  webcrypto.subtle.importKey('pkcs8', x509.PemConverter.decodeFirst(pem), ALGORITHM, true, ['sign'])
