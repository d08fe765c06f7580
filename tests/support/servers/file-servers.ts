// SFTP and FTP servers of a test's own, over files that are given as texts by path. What is uploaded is put among them; a folder is there
// when it was made, or when it has a file.

import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import ssh2 from 'ssh2'

export type Files = Record<string, Buffer | string>

export interface FileServer {
  readonly port: number
  close(): Promise<void>
}

const LOGIN = { user: 'reader', password: 'open-sesame' }
/** A path whose existence the servers do not reveal. */
export const UNKNOWN = 'unknown.csv'
const MODIFIED = 1_700_000_000

/** Names directly in a folder: true for folders. */
function namesIn(files: Files, folder: string): Map<string, boolean> {
  const below = folder === '' || folder === '.' || folder === '/' ? '' : `${folder.replace(/^\.?\//, '').replace(/\/$/, '')}/`
  const names = new Map<string, boolean>()
  for (const path of Object.keys(files)) {
    if (!path.startsWith(below)) continue
    const [name = '', ...rest] = path.slice(below.length).split('/')
    names.set(name, rest.length > 0)
  }
  return names
}

const sizeOf = (files: Files, path: string): number => Buffer.from(files[path.replace(/^\.?\//, '')] ?? '').length

async function listening(server: Server | ssh2.Server, close: () => void): Promise<FileServer> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port, // a TCP listener has one
    async close() {
      close()
      server.close()
    },
  }
}

export async function startSftp(files: Files): Promise<FileServer> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const { STATUS_CODE } = ssh2.utils.sftp
  const clients = new Set<ssh2.Connection>()
  const server = new ssh2.Server({ hostKeys: [privateKey.export({ type: 'pkcs1', format: 'pem' })] }, (client) => {
    clients.add(client.on('error', () => {}))
    client.on('authentication', (context) =>
      context.method === 'password' && context.username === LOGIN.user && context.password === LOGIN.password
        ? context.accept()
        : context.reject(['password']),
    )
    client.on('session', (accept) =>
      accept().on('sftp', (acceptSftp) => {
        const sftp = acceptSftp()
        const handles: { readonly path: string; isListed: boolean }[] = []
        const made = new Set<string>()
        const plain = (path: string) => path.replace(/^\.?\//, '')
        const open = (id: number, path: string) => sftp.handle(id, Buffer.from([handles.push({ path, isListed: false }) - 1]))
        const attributes = (path: string, isFolder: boolean) => ({
          ...{
            mode: isFolder ? 0o040755 : 0o100644,
            uid: 0,
            gid: 0,
            size: sizeOf(files, path),
            atime: MODIFIED,
            mtime: MODIFIED,
          },
        })
        sftp.on('OPENDIR', (id, path) =>
          namesIn(files, path).size > 0 || path === '.' ? open(id, path) : sftp.status(id, STATUS_CODE.NO_SUCH_FILE),
        )
        sftp.on('READDIR', (id, handle) => {
          const one = handles[handle[0] ?? 0]!
          if (one.isListed) return sftp.status(id, STATUS_CODE.EOF)
          one.isListed = true
          const folder = one.path === '.' ? '' : `${one.path.replace(/\/$/, '')}/`
          sftp.name(
            id,
            [...namesIn(files, one.path)].map(([filename, isFolder]) => ({
              filename,
              longname: filename,
              attrs: attributes(folder + filename, isFolder),
            })),
          )
        })
        sftp.on('OPEN', (id, path, flags) => {
          const { WRITE, TRUNC } = ssh2.utils.sftp.OPEN_MODE
          if (flags & WRITE && (flags & TRUNC || files[plain(path)] === undefined)) files[plain(path)] = Buffer.alloc(0)
          open(id, plain(path))
        })
        sftp.on('WRITE', (id, handle, offset, data) => {
          const { path } = handles[handle[0] ?? 0]!
          const before = Buffer.from(files[path] ?? '')
          const after = Buffer.alloc(Math.max(before.length, offset + data.length))
          before.copy(after)
          data.copy(after, offset)
          files[path] = after
          sftp.status(id, STATUS_CODE.OK)
        })
        sftp.on('STAT', (id, path) => {
          if (path === UNKNOWN) return sftp.status(id, STATUS_CODE.PERMISSION_DENIED)
          const isFolder = made.has(plain(path)) || namesIn(files, plain(path)).size > 0
          if (isFolder || files[plain(path)] !== undefined) sftp.attrs(id, attributes(plain(path), isFolder))
          else sftp.status(id, STATUS_CODE.NO_SUCH_FILE)
        })
        sftp.on('MKDIR', (id, path) => {
          made.add(plain(path))
          sftp.status(id, STATUS_CODE.OK)
        })
        sftp.on('REMOVE', (id, path) => {
          delete files[plain(path)]
          sftp.status(id, STATUS_CODE.OK)
        })
        sftp.on('RENAME', (id, from, to) => {
          if (files[plain(to)] !== undefined) return sftp.status(id, STATUS_CODE.FAILURE)
          files[plain(to)] = files[plain(from)] ?? ''
          delete files[plain(from)]
          sftp.status(id, STATUS_CODE.OK)
        })
        sftp.on('FSETSTAT', (id) => sftp.status(id, STATUS_CODE.OK))
        sftp.on('FSTAT', (id, handle) => sftp.attrs(id, attributes(handles[handle[0] ?? 0]!.path, false)))
        sftp.on('READ', (id, handle, offset, length) => {
          const bytes = Buffer.from(files[handles[handle[0] ?? 0]!.path] ?? '')
          if (offset >= bytes.length) sftp.status(id, STATUS_CODE.EOF)
          else sftp.data(id, bytes.subarray(offset, offset + length))
        })
        sftp.on('CLOSE', (id) => sftp.status(id, STATUS_CODE.OK))
      }),
    )
  })
  return listening(server, () => {
    for (const client of clients) client.end()
  })
}

export async function startFtp(files: Files): Promise<FileServer> {
  const sockets = new Set<Socket>()
  const server = createServer((control) => {
    sockets.add(control.on('error', () => {}))
    const say = (line: string) => control.write(`${line}\r\n`)
    let folder = ''
    let data: Server | undefined
    let connected: Promise<Socket> | undefined
    const send = async (bytes: Buffer) => {
      const socket = await connected!
      say('150 Here it comes')
      socket.end(bytes)
      await once(socket, 'close')
      data?.close()
      say('226 Done')
    }
    const take = async (path: string, before: Buffer | string) => {
      const socket = await connected!
      say('150 Send it')
      const chunks: Buffer[] = [Buffer.from(before)]
      for await (const chunk of socket) chunks.push(chunk as Buffer) // no encoding is set
      files[path] = Buffer.concat(chunks)
      data?.close()
      say('226 Done')
    }
    let renamed = ''
    let pending: ((bytes: Buffer) => Promise<void>) | undefined
    say('220 Ready')
    control.setEncoding('utf8').on('data', async (text: string) => {
      for (const line of text.split('\r\n').filter((one) => one !== '')) {
        const [, command = '', argument = ''] = /^(\S+) ?(.*)$/.exec(line) ?? []
        const path = argument.replace(/^\//, '')
        const below = folder === '' || argument.startsWith('/') ? path : `${folder}/${path}`
        switch (command.toUpperCase()) {
          case 'USER':
            say('331 Password?')
            break
          case 'PASS':
            say(argument === LOGIN.password ? '230 Welcome' : '530 Wrong')
            break
          case 'FEAT':
            say('211-Features\r\n MLST type*;size*;modify*;\r\n211 End')
            break
          case 'EPSV':
            data = createServer().listen(0, '127.0.0.1')
            await once(data, 'listening')
            connected = once(data, 'connection').then(([socket]) => socket as Socket)
            pending = send
            say(`229 Passive (|||${(data.address() as AddressInfo).port}|)`)
            break
          case 'CWD':
            folder = argument === '/' ? '' : below
            say('250 Changed')
            break
          case 'PWD':
            say(`257 "/${folder}" is it`)
            break
          case 'MKD':
            say(`257 "/${below}" made`)
            break
          case 'STOR':
          case 'APPE':
            await take(below, command === 'APPE' ? (files[below] ?? '') : '')
            break
          case 'SIZE':
            if (below === UNKNOWN) say('450 Busy')
            else say(files[below] === undefined ? '550 No such file' : `213 ${sizeOf(files, below)}`)
            break
          case 'DELE':
            say(files[below] === undefined ? '550 No such file' : '250 Deleted')
            delete files[below]
            break
          case 'RNFR':
            renamed = below
            say('350 And the new name?')
            break
          case 'RNTO':
            files[below] = files[renamed] ?? ''
            delete files[renamed]
            say('250 Renamed')
            break
          case 'MLSD': {
            const at = path || folder
            const lines = [...namesIn(files, at)].map(
              ([name, isFolder]) =>
                `type=${isFolder ? 'dir' : 'file'};size=${sizeOf(files, at === '' ? name : `${at.replace(/\/$/, '')}/${name}`)};modify=20260101000000; ${name}\r\n`,
            )
            await pending?.(Buffer.from(lines.join('')))
            break
          }
          case 'RETR':
            await pending?.(Buffer.from(files[path] ?? ''))
            break
          case 'QUIT':
            say('221 Bye')
            break
          default:
            say('200 Fine')
        }
      }
    })
  })
  return listening(server, () => {
    for (const socket of sockets) socket.destroy()
  })
}
