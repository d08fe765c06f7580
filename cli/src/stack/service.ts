// millrace service install: the file with which systemd (or launchd on macOS) keeps the stack running. The one for systemd is made of
// deploy/millrace.service, so that both have the same settings.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { homeFolder } from '../../../server/src/kit/machine/home-folder.ts'
import { readConfig } from '../../../server/src/start/config.ts'
import { print } from '../json-output.ts'
import { UserError } from '../output.ts'
import { MAIN } from './start.ts'

const UNIT = fileURLToPath(new URL('../../../deploy/millrace.service', import.meta.url))
const SYSTEM_DATA = '/var/lib/millrace'

interface InstallOptions {
  readonly system?: boolean
  readonly user?: boolean
  readonly data?: string
  readonly dryRun?: boolean
}

export interface Service {
  /** What starts the stack: Node and the program, or the single executable. */
  readonly command: readonly [program: string, ...arguments_: string[]]
  readonly dataDir: string
  /** For the machine, as a user of its own; otherwise for the user that calls. */
  readonly isSystem: boolean
}

export function addServiceCommands(program: Command): void {
  const service = program.command('service').description('run the stack as a service of the machine')
  service
    .command('install')
    .description('write a service file for systemd (launchd on macOS)')
    .option('--system', 'for the machine, as the user millrace; the default for root')
    .option('--user', 'for the user that calls; the default for others')
    .option('--data <folder>', `its data folder (default: ${SYSTEM_DATA}, or with --user that of this folder)`)
    .option('--dry-run', 'print the file, write nothing')
    .action((options: InstallOptions, command: Command) => {
      const isSystem = options.system === true || (options.user !== true && process.getuid?.() === 0)
      const dataDir = resolve(options.data ?? (isSystem ? SYSTEM_DATA : readConfig().dataDir))
      const { MILLRACE_EXECUTABLE: executable } = process.env // of its launcher
      const started: Service['command'] = executable ? [executable] : [process.execPath, MAIN]
      const { file, text, next } = serviceFile({ command: started, dataDir, isSystem }, process.platform)
      if (options.dryRun) return print(command, { file, text }, () => `# ${file}\n${text}`)
      if (existsSync(file)) throw new UserError(`${file} already exists. Remove it first, or compare it with --dry-run.`)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      print(command, { file, next }, () => `${file} written. Start it with:\n${next.map((line) => `  ${line}`).join('\n')}`)
    })
}

export function serviceFile(service: Service, platform: NodeJS.Platform) {
  const { command, isSystem } = service
  const main = command.at(-1) ?? ''
  if (/[\\/]_npx[\\/]/.test(main))
    throw new UserError('npx keeps the package in a cache that it may empty. Install it first: npm install --global millrace')
  if (platform === 'darwin') return launchd(service)
  if (platform !== 'linux')
    throw new UserError(`Services of ${platform} are not supported; start "millrace start" by a tool of that system.`)
  if (isSystem && [homeFolder() ?? '/home', '/home', '/root', '/tmp'].some((folder) => main.startsWith(`${folder}/`)))
    throw new UserError(
      `A service of the machine cannot read ${main}: homes and /tmp are hidden from it. Install the program elsewhere, or use --user.`,
    )
  const user = isSystem ? '' : ' --user'
  return {
    file: isSystem ? '/etc/systemd/system/millrace.service' : join(homeOfService(), '.config/systemd/user/millrace.service'),
    text: systemdUnit(service),
    next: [
      ...(isSystem ? [`useradd --system --home-dir ${SYSTEM_DATA} millrace`] : []),
      `systemctl${user} daemon-reload`,
      `systemctl${user} enable --now millrace`,
      `journalctl${user} --unit millrace   # the link to sign in and the master token`,
    ],
  }
}

function homeOfService(): string {
  const home = homeFolder()
  if (home === undefined)
    throw new UserError('This user has no home folder for the file of the service. Set HOME, or use --system.')
  return home
}

/** Lines that a service of one user has not: they need root, or hide the home where the program is. */
const OF_THE_MACHINE =
  /^(User|Group|StateDirectory|StateDirectoryMode|ProtectSystem|ProtectHome|PrivateTmp|ProtectKernelModules|ProtectClock|After|Wants|EnvironmentFile)=/

function systemdUnit({ command, dataDir, isSystem }: Service): string {
  const [program, main] = command
  const root = main === undefined ? dirname(program) : dirname(dirname(dirname(main)))
  const values: Readonly<Record<string, string>> = {
    Documentation: `file://${root}/docs/operations.md`,
    WorkingDirectory: escaped(root),
    Environment: environmentOf(command, dataDir)
      .map(([name, value]) => quoted(`${name}=${value}`))
      .join(' '),
    ExecStart: command.map(quoted).join(' '),
    ...(!isSystem && { WantedBy: 'default.target' }),
  }
  const lines = readFileSync(UNIT, 'utf8').split('\n')
  return lines
    .slice(lines.indexOf('[Unit]'))
    .filter((line) => isSystem || !OF_THE_MACHINE.test(line))
    .filter((line) => main !== undefined || !line.startsWith('Documentation=')) // it is inside the executable
    .filter((line) => dataDir === SYSTEM_DATA || !/^StateDirectory(Mode)?=/.test(line))
    .map((line) =>
      line === 'ProtectSystem=strict' && dataDir !== SYSTEM_DATA ? `${line}\nReadWritePaths=${quoted(dataDir)}` : line,
    )
    .map((line) => {
      const [name = ''] = line.split('=')
      return Object.hasOwn(values, name) ? `${name}=${values[name]}` : line
    })
    .join('\n')
}

/** The single executable unpacks itself into the one folder that the service may write to. */
const environmentOf = ([, main]: Service['command'], dataDir: string): readonly (readonly [string, string])[] => [
  ['MILLRACE_DATA_DIR', dataDir],
  ...(main === undefined ? [['MILLRACE_RUNTIME_DIR', join(dataDir, '.runtime')] as const] : []),
]

/** A percent sign begins a specifier. */
const escaped = (text: string): string => text.replaceAll('%', '%%')
const quoted = (text: string): string =>
  /[\s"'\\$;]/.test(text) ? `"${escaped(text).replaceAll(/["\\]/g, '\\$&')}"` : escaped(text)

function launchd({ command, dataDir, isSystem }: Service) {
  const name = 'millrace'
  const file = join(isSystem ? '/Library/LaunchDaemons' : join(homeOfService(), 'Library/LaunchAgents'), `${name}.plist`)
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${name}</string>
  <key>ProgramArguments</key><array>${command.map((part) => `<string>${xml(part)}</string>`).join('')}</array>
  <key>EnvironmentVariables</key><dict>${environmentOf(command, dataDir)
    .map(([variable, value]) => `<key>${variable}</key><string>${xml(value)}</string>`)
    .join('')}</dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>StandardOutPath</key><string>${xml(dataDir)}.log</string>
  <key>StandardErrorPath</key><string>${xml(dataDir)}.log</string>
</dict>
</plist>
`
  return {
    file,
    text,
    next: [`launchctl bootstrap ${isSystem ? 'system' : 'gui/$(id -u)'} ${file}`, `cat ${dataDir}.log   # the link to sign in`],
  }
}

const xml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
