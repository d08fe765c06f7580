// What lets the programs of components trust the stack's own authority: files they may read, and the variables by which programs look for
// such files. The folder of the authority itself has its key and stays hidden from them.

import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'

export interface Trust {
  /** With the files that the variables name. */
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

/** Some variables add to the authorities of a program, others replace them: the second kind gets all of them. */
export async function writeTrust(folder: string, authorityFile: string): Promise<Trust> {
  const authority = await readFile(authorityFile, 'utf8')
  const files = { added: join(folder, 'authority.pem'), all: join(folder, 'all.pem') }
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o755) // whatever the umask is: on a node that is root, components run as another user
  await replace(files.added, authority)
  await replace(files.all, [...getCACertificates('default'), authority].map((pem) => `${pem.trim()}\n`).join(''))
  return {
    folder,
    environment: {
      NODE_EXTRA_CA_CERTS: files.added,
      SSL_CERT_FILE: files.all,
      REQUESTS_CA_BUNDLE: files.all,
      CURL_CA_BUNDLE: files.all,
    },
  }
}

/** Whole at every moment: programs of an earlier process may read it. */
async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text)
  await chmod(`${path}.new`, 0o644)
  await rename(`${path}.new`, path)
}
