// A git server in this process: repositories made by isomorphic-git, offered over the smart HTTP protocol, without a git program.

import fs, { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  add,
  annotatedTag,
  branch,
  commit,
  init,
  listBranches,
  listTags,
  packObjects,
  readCommit,
  readObject,
  readTag,
  readTree,
  resolveRef,
} from 'isomorphic-git'
import type { TestScope } from '../test-stack.ts'

export interface GitServer {
  /** `http://127.0.0.1:port`. */
  readonly origin: string
  readonly url: string
  /** What answers instead of the server, until it is undefined again. */
  instead: ((req: IncomingMessage, res: ServerResponse) => void) | undefined
  /** Required of every request. */
  credentials: { readonly username: string; readonly password: string } | undefined
  /** How many packs were sent. */
  packs(): number
  /** Writes files (texts, or links as `{ link }`) and commits them to main; answers the commit. */
  commit(files: Readonly<Record<string, string | { readonly link: string }>>): Promise<string>
  branch(name: string): Promise<void>
  tag(name: string): Promise<void>
  close(): Promise<void>
}

const author = { name: 'Test', email: 'test@example.com', timestamp: 1_700_000_000, timezoneOffset: 0 }
const CAPABILITIES = 'side-band-64k ofs-delta shallow symref=HEAD:refs/heads/main agent=test'
const FLUSH = Buffer.from('0000')
/** What fits into one packet, its length and its band left out. */
const BAND_BYTES = 65_515

const packet = (data: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(data)
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

export async function startGitServer(t: TestScope, path = '/team/templates.git'): Promise<GitServer> {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-git-'))
  const repository = { fs, dir }
  await init({ ...repository, defaultBranch: 'main' })
  let packs = 0

  async function refs(): Promise<[string, string][]> {
    const names = [
      'HEAD',
      ...(await listBranches(repository)).map((name) => `refs/heads/${name}`),
      ...(await listTags(repository)).map((name) => `refs/tags/${name}`),
    ]
    return Promise.all(names.map(async (ref): Promise<[string, string]> => [await resolveRef({ ...repository, ref }), ref]))
  }

  async function advertise(res: ServerResponse): Promise<void> {
    const lines = (await refs()).map(([oid, ref], i) => packet(`${oid} ${ref}${i === 0 ? `\0${CAPABILITIES}` : ''}\n`))
    res.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
    res.end(Buffer.concat([packet('# service=git-upload-pack\n'), FLUSH, ...lines, FLUSH]))
  }

  /** A commit without its parents, or a tag with what it names; trees and blobs with them. */
  async function objectsOf(oid: string): Promise<string[]> {
    const { type } = await readObject({ ...repository, oid })
    if (type === 'tag') return [oid, ...(await objectsOf((await readTag({ ...repository, oid })).tag.object))]
    if (type === 'commit') return [oid, ...(await objectsOf((await readCommit({ ...repository, oid })).commit.tree))]
    if (type !== 'tree') return [oid]
    const { tree } = await readTree({ ...repository, oid })
    return [oid, ...(await Promise.all(tree.map((entry) => objectsOf(entry.oid)))).flat()]
  }

  async function sendPack(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const asked = Buffer.concat(await Array.fromAsync(req as AsyncIterable<Buffer>)).toString()
    const want = /want ([0-9a-f]{40})/.exec(asked)![1]!
    res.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' })
    const oids = await objectsOf(want).catch(() => undefined)
    if (!oids) {
      res.end(packet(`ERR upload-pack: not our ref ${want}`))
      return
    }
    packs++
    const { oid: shallow } = await readCommit({ ...repository, oid: want })
    const { packfile } = await packObjects({ ...repository, oids: [...new Set(oids)] })
    const bands: Buffer[] = []
    for (let at = 0; at < packfile!.length; at += BAND_BYTES)
      bands.push(packet(Buffer.concat([Buffer.from([1]), packfile!.subarray(at, at + BAND_BYTES)])))
    res.end(Buffer.concat([packet(`shallow ${shallow}`), FLUSH, packet('NAK\n'), ...bands, FLUSH]))
  }

  const server = createServer((req, res) => {
    const expected = control.credentials && Buffer.from(`${control.credentials.username}:${control.credentials.password}`)
    if (control.instead) control.instead(req, res)
    else if (expected && req.headers.authorization !== `Basic ${expected.toString('base64')}`)
      res.writeHead(401, { 'www-authenticate': 'Basic' }).end('no')
    else if (req.url === `${path}/info/refs?service=git-upload-pack`) void advertise(res)
    else if (req.url === `${path}/git-upload-pack`) void sendPack(req, res)
    else res.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const control: GitServer = {
    origin,
    url: `${origin}${path}`,
    instead: undefined,
    credentials: undefined,
    packs: () => packs,
    async commit(files) {
      for (const [filepath, content] of Object.entries(files)) {
        mkdirSync(dirname(join(dir, filepath)), { recursive: true })
        if (typeof content === 'string') writeFileSync(join(dir, filepath), content)
        else symlinkSync(content.link, join(dir, filepath))
        await add({ ...repository, filepath })
      }
      return commit({ ...repository, message: 'Change', author })
    },
    branch: (name) => branch({ ...repository, ref: name }),
    tag: (name) => annotatedTag({ ...repository, ref: name, tagger: author, message: name }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  t.after(async () => {
    await control.close()
    rmSync(dir, { recursive: true, force: true })
  })
  return control
}
