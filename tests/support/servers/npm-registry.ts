// An npm registry for one test, on this machine: it serves given archives, and every package of the lockfile from where it is installed
// here. `npm` and `npx` install from it as they do from the public one.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

interface Manifest {
  readonly name: string
  readonly version: string
}

/** Of the lockfile: it has also what is not installed here, because it is for other machines. */
type Locked = Omit<Manifest, 'name'> & { readonly os?: readonly string[]; readonly cpu?: readonly string[] }

export interface NpmRegistry {
  readonly url: string
  /** Names of the packages that were downloaded. */
  readonly downloaded: ReadonlySet<string>
}

export async function startNpmRegistry(
  t: Pick<TestContext, 'after'>,
  archives: Readonly<Record<string, { readonly file: string; readonly manifest: Manifest }>>,
): Promise<NpmRegistry> {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> }
  const downloaded = new Set<string>()

  function manifestOf(name: string): Manifest | undefined {
    const own = archives[name]
    if (own) return own.manifest
    const place = `node_modules/${name}`
    const file = join(ROOT, place, 'package.json')
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Manifest
    return packages[place] && { name, ...packages[place] }
  }

  function sendArchive(name: string, response: ServerResponse): void {
    downloaded.add(name)
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    const own = archives[name]
    if (own) return void response.end(readFileSync(own.file))
    const tar = spawn('tar', ['--create', '--transform', 's,^[.],package,', '--directory', join(ROOT, 'node_modules', name), '.'])
    tar.stdout.pipe(response)
  }

  const server = createServer((request, response) => {
    const [name = '', kind] = decodeURIComponent(request.url ?? '')
      .slice(1)
      .split('?')[0]!
      .split('/-/')
    const manifest = manifestOf(name)
    if (!manifest) return void response.writeHead(404).end('{}')
    if (kind !== undefined) return sendArchive(name, response)
    const own = archives[name]
    const dist = {
      tarball: `${url}/${name}/-/package.tgz`,
      ...(own && { integrity: `sha512-${createHash('sha512').update(readFileSync(own.file)).digest('base64')}` }),
    }
    const { version } = manifest
    const body = { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a TCP server has one
  return { url, downloaded }
}
