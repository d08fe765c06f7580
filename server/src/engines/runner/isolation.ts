// What a component that is a command can see and reach. Namespaces of the kernel, made by `unshare` of util-linux, without root where the
// kernel lets users have namespaces of their own:
//  (1) a file system of its own: the system's programs and libraries read-only, its own folder read-only, its data folder, scratch
//      space. The rest of the disk is not there: keys, databases, other runs, home folders;
//  (2) processes of its own: it sees no process of the machine, and all of its own end with it;
//  (3) a network of its own with nothing in it, or with one way out: the egress proxy of the server; or, for programs of the stack that work on a
//      cluster, the network of the machine;
//  (4) no capabilities, no way to new ones, and another user than the server's when that is root;
//  (5) no user namespaces of its own: the kernel refuses them to a process whose root is not the root of its mounts.

import { execFile } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { homeFolder } from '../../kit/machine/home-folder.ts'
import { shellQuoted } from '../../kit/text/shell-quoted.ts'
import type { Forwarder, Inbound } from './egress-proxy.ts'

export type IsolationMode = 'auto' | 'require' | 'off'

export interface IsolationSettings {
  readonly mode: IsolationMode
  /** Where commands are looked for: what they need to run is in the view. */
  readonly path: string
  /** What else components may read. */
  readonly readable: readonly string[]
  /** Never in the view, whatever it lies below. */
  readonly hidden: readonly string[]
  /** Of the components, when the server runs as root. */
  readonly uid: number
}

export interface Isolation {
  readonly mode: IsolationMode
  /** Why components are not isolated; undefined when they are. */
  readonly problem: string | undefined
  /** The command that runs `argv` isolated. */
  wrap(argv: readonly string[], view: View): readonly string[]
}

/** What one run sees besides the programs of the system. */
export interface View {
  /** Where the view is built; a folder of the run, invisible to others. */
  readonly place: string
  readonly writable: readonly string[]
  readonly readable: readonly string[]
  readonly cwd: string
  /** The way out, or the network of the machine as it is; without it there is no network at all. */
  readonly network?: 'host' | (Forwarder & { readonly inbound?: Inbound | undefined }) | undefined
}

/** The exit code and the message of a view that could not be created. */
export const VIEW_FAILED = { exitCode: 121, words: 'The isolated surroundings of the component could not be made.' }

const TOOLS_PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix']
const ETC_FILES = ['passwd', 'group', 'nsswitch.conf', 'localtime', 'ld.so.cache', 'mime.types', 'services', 'protocols']
/** How the machine finds others by name. */
const NAMES_OF_HOSTS = ['hosts', 'resolv.conf', 'host.conf']
/** Those of a Java are named after its version. */
const ETC_FOLDERS = ['ssl', 'pki', 'ca-certificates', 'alternatives', ...javaFolders()]
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom']
const SHARED_MEMORY = '/dev/shm'
const SCRATCH = 'mode=1777,nosuid,nodev,size=64m'
const PROBE_MS = 20_000
/** The same view once more, for (5). */
const INNER_ROOT = '/.millrace/root'

/** Searched once, on first use. */
export function createIsolation(settings: IsolationSettings): () => Promise<Isolation> {
  let found: Promise<Isolation> | undefined
  return () => {
    found ??= findIsolation(settings)
    return found
  }
}

/** Tries it: whether a kernel allows all of this can only be seen by doing it. */
export async function findIsolation(settings: IsolationSettings): Promise<Isolation> {
  const problem = await problemOf(settings)
  return { mode: settings.mode, problem, wrap: (argv, view) => wrapped(settings, argv, view) }
}

async function problemOf(settings: IsolationSettings): Promise<string | undefined> {
  if (settings.mode === 'off') return 'MILLRACE_ISOLATION is off'
  if (process.platform !== 'linux') return `it needs Linux, and this is ${process.platform}`
  const place = await mkdtemp(join(tmpdir(), 'millrace-view-'))
  const view: View = { place: join(place, 'view'), writable: [], readable: [], cwd: '/' }
  const [command, ...args] = wrapped(settings, ['/bin/sh', '-c', 'test ! -e /var'], view)
  try {
    await promisify(execFile)(command!, args, { timeout: PROBE_MS, env: { PATH: settings.path } })
    return undefined
  } catch (error) {
    const { stderr = '', code } = error as { readonly stderr?: string; readonly code?: unknown } // of execFile
    const said = stderr.split('\n').find((line) => line.trim() !== '' && line !== VIEW_FAILED.words)
    return `the kernel or the container around the stack does not allow it (${said ?? `unshare ended with ${code}`})`
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

function javaFolders(): string[] {
  return existsSync('/etc') ? readdirSync('/etc').filter((name) => /^java(-[\w.-]+)?$/.test(name)) : []
}

const isRoot = (): boolean => process.getuid?.() === 0

function wrapped(settings: IsolationSettings, argv: readonly string[], view: View): readonly string[] {
  const own = isRoot() ? [] : ['--user', '--map-root-user']
  return [
    ...[
      '/usr/bin/env',
      `PATH=${TOOLS_PATH}`,
      'unshare',
      ...own,
      '--mount',
      '--pid',
      ...(view.network === 'host' ? [] : ['--net']),
      '--ipc',
      '--uts',
      '--fork',
      '--kill-child',
    ],
    ...['/bin/sh', '-c', viewScript(settings, view), 'view', ...argv],
  ]
}

/** Runs as the first process of the namespaces, and stays it: the first process is deaf to most signals, so the program is its child. */
function viewScript(settings: IsolationSettings, view: View): string {
  const { uid } = settings
  const [enter, drop] = isRoot()
    ? ['', `setpriv --reuid ${uid} --regid ${uid} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all --`]
    : [`--user --map-user=${process.getuid?.()} --map-group=${process.getgid?.()}`, 'setpriv --no-new-privs --']
  const become = enter === '' ? drop : `unshare ${enter} -- ${drop}`
  const becomeInside = `unshare ${enter} --root=${INNER_ROOT} --wd=${shellQuoted(view.cwd)} -- ${drop}`
  const network = ownNetwork(view)
  const { mounts, links } = contentsOf(settings, view)
  const folders = mounts.filter(({ isFile }) => !isFile).map(({ target }) => `.${target}`)
  const files = mounts.filter(({ isFile }) => isFile).map(({ target }) => `.${target}`)
  // Every command is a process to start, and every run goes through all of them: hence one mount for everything.
  return [
    'set -e',
    'umask 022',
    `trap 'echo "${VIEW_FAILED.words}" >&2; exit ${VIEW_FAILED.exitCode}' EXIT`,
    ...(isRoot() && view.writable.length > 0 ? [`chown -hR ${uid}:${uid} ${view.writable.map(shellQuoted).join(' ')}`] : []),
    `mkdir -p ${shellQuoted(view.place)}`,
    `mount -t tmpfs -o mode=755,nosuid,nodev,size=64m view ${shellQuoted(view.place)}`,
    `cd ${shellQuoted(view.place)}`,
    `mkdir -p -m 1777 tmp .${SHARED_MEMORY}`,
    `mkdir -p dev etc .millrace .old ${folders.map(shellQuoted).join(' ')}`,
    ...files.map((target) => `: > ${shellQuoted(target)}`),
    ...(links.length > 0 ? [`ln -s ${links.map(shellQuoted).join(' ')} .`] : []),
    'cp -P /dev/fd /dev/stdin /dev/stdout /dev/stderr dev',
    `cp -L ${existing('/etc', ETC_FILES).map(shellQuoted).join(' ')} etc`,
    ...(view.network === 'host'
      ? [`cp -L ${existing('/etc', NAMES_OF_HOSTS).map(shellQuoted).join(' ')} etc`]
      : ["echo '127.0.0.1 localhost' > etc/hosts"]),
    ...(network ? ['mkfifo -m 666 .millrace/ready', 'ip link set lo up'] : []),
    `printf '%s\\n' ${mounts.map((mount) => shellQuoted(mountLine(view.place, mount))).join(' ')} > .millrace/mounts`,
    'mount --all --fstab .millrace/mounts',
    'pivot_root . .old',
    'cd /',
    'umount -l .old',
    ...(network ? networkStart(become, network) : []),
    `mkdir ${INNER_ROOT}`,
    `mount --rbind / ${INNER_ROOT}`,
    'trap - EXIT',
    'set +e',
    `${becomeInside} /usr/bin/env PATH=${shellQuoted(settings.path)} "$@"; exit $?`,
  ].join('\n')
}

interface Mount {
  readonly source: string
  readonly target: string
  readonly options: string
  readonly type?: string
  readonly isFile?: true
}

const READ_ONLY = 'rbind,ro,nosuid,nodev'

/** In the order they are mounted: what lies below another comes after it. */
function contentsOf(
  settings: IsolationSettings,
  view: View,
): { readonly mounts: readonly Mount[]; readonly links: readonly string[] } {
  const readOnly = (path: string): Mount => ({ source: path, target: path, options: READ_ONLY })
  const file = (source: string, name: string): Mount => ({ source, target: name, options: 'bind', isFile: true })
  const system = SYSTEM.filter((path) => existsSync(path))
  // Links of the root folder (`/bin` to `usr/bin`) stay links.
  const [links, folders] = [system.filter(isLink), system.filter((path) => !isLink(path))]
  const network = ownNetwork(view)
  const readable = readableOf(settings, view)
  return {
    links: links.map((path) => readlinkSync(path)),
    mounts: [
      // Not where the stack keeps its data in memory: it would cover the folders of the run.
      ...([...readable, ...view.writable].some((path) => isBelow(path, SHARED_MEMORY))
        ? []
        : [{ source: 'shm', target: SHARED_MEMORY, type: 'tmpfs', options: SCRATCH }]),
      ...DEVICES.map((name) => file(`/dev/${name}`, `/dev/${name}`)),
      ...[...folders, ...existing('/etc', ETC_FOLDERS), ...readable].map(readOnly),
      ...view.writable.map((path) => ({ source: path, target: path, options: 'bind,nosuid,nodev' })),
      { source: 'proc', target: '/proc', type: 'proc', options: 'nosuid,nodev,noexec' },
      ...(network
        ? [
            file(process.execPath, '/.millrace/node'),
            file(network.forwarder, '/.millrace/forwarder.mjs'),
            file(network.socket, '/.millrace/egress'),
            ...(network.inbound ? [{ source: network.inbound.folder, target: INBOUND, options: 'bind,nosuid,nodev' }] : []),
          ]
        : []),
    ],
  }
}

const ownNetwork = ({ network }: View) => (network === 'host' ? undefined : network)

const isLink = (path: string): boolean => lstatSync(path).isSymbolicLink()

const existing = (folder: string, names: readonly string[]): string[] =>
  names.map((name) => join(folder, name)).filter((path) => existsSync(path))

const mountLine = (place: string, { source, target, type = 'none', options }: Mount): string =>
  `${escaped(source)} ${escaped(place + target)} ${type} ${options} 0 0`

/** As fstab has it. */
const escaped = (path: string): string =>
  path.replace(/[\\\s]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`)

/** Without what another one holds, and without whatever would show what is hidden. */
function readableOf(settings: IsolationSettings, view: View): string[] {
  const wanted = [...toolFolders(settings.path), dirname(process.execPath), ...settings.readable, ...view.readable]
  const real = [...new Set(wanted.filter((path) => existsSync(path)).flatMap((path) => [path, realpathSync(path)]))]
  const isShown = (path: string) => SYSTEM.some((system) => isBelow(path, system))
  const home = homeFolder()
  const hidden = [...settings.hidden, ...(home === undefined ? [] : [home]), '/tmp', '/etc']
  const shows = (path: string) => hidden.some((one) => isBelow(one, path))
  const kept = real.filter((path) => !isShown(path) && !shows(path))
  return kept.filter((path) => !kept.some((other) => other !== path && isBelow(path, other))).sort()
}

/** A toolchain is the folder around its `bin`, or the hidden folder of a home that it was installed to (`~/.pyenv`). */
function toolFolders(path: string): string[] {
  const home = homeFolder()
  return path.split(':').map((entry) => {
    if (home !== undefined && home !== '/' && isBelow(entry, home)) {
      const [first = ''] = entry.slice(home.length + 1).split('/')
      if (first.startsWith('.')) return join(home, first)
    }
    return ['bin', '.bin', 'sbin'].includes(basename(entry)) && dirname(entry) !== home ? dirname(entry) : entry
  })
}

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)

/** A program that could write there would lead the server to a socket of its choice, by a link. */
const INBOUND = '/.millrace/in'

function networkStart(become: string, { port, relays, inbound }: Exclude<NonNullable<View['network']>, 'host'>): string[] {
  const ways = [port, ...relays, ...(inbound ? [`in:${inbound.port}:${INBOUND}/s`] : [])]
  return [
    `${become} /.millrace/node /.millrace/forwarder.mjs /.millrace/egress ${ways.join(' ')} > /.millrace/ready 2>/dev/null &`,
    'read -r ready < /.millrace/ready',
    ...(inbound ? [`umount -l ${INBOUND}`] : []),
  ]
}
