import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCli } from '../../../tests/support/run-cli.ts'
import { type Service, serviceFile } from './service.ts'

const SERVICE: Service = {
  command: ['/usr/bin/node', '/opt/millrace/server/src/main.js'],
  dataDir: '/var/lib/millrace',
  isSystem: true,
}
const unitOf = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))

test('the unit of the machine is the one in deploy/, with the paths of this installation', () => {
  const { file, text } = serviceFile(SERVICE, 'linux')
  assert.equal(file, '/etc/systemd/system/millrace.service')
  const deployed = readFileSync(new URL('../../../deploy/millrace.service', import.meta.url), 'utf8')
  assert.deepEqual(
    unitOf(text).filter((line) => !unitOf(deployed).includes(line)),
    ['ExecStart=/usr/bin/node /opt/millrace/server/src/main.js'],
  )
  assert.equal(unitOf(text).length, unitOf(deployed).length)

  const elsewhere = serviceFile({ ...SERVICE, dataDir: '/srv/my data/100%' }, 'linux').text
  assert.match(elsewhere, /^Environment="MILLRACE_DATA_DIR=\/srv\/my data\/100%%"$/m)
  assert.match(elsewhere, /^ReadWritePaths="\/srv\/my data\/100%%"$/m)
  assert.doesNotMatch(elsewhere, /^StateDirectory/m)
})

test('a program in a home or in the cache of npx is refused with the way out', () => {
  const refused = (main: string, isSystem: boolean) => () =>
    serviceFile({ ...SERVICE, command: ['/usr/bin/node', main], isSystem }, 'linux')
  assert.throws(refused('/home/ann/millrace/server/src/main.js', true), /homes and \/tmp are hidden from it\. .*--user\.$/)
  assert.throws(
    refused('/home/ann/.npm/_npx/1a/node_modules/millrace/server/src/main.js', false),
    /npm install --global millrace$/,
  )
  assert.throws(() => serviceFile(SERVICE, 'win32'), /Services of win32 are not supported/)
})

test('the single executable is started by itself, and unpacks itself into the data folder', () => {
  const { text } = serviceFile({ ...SERVICE, command: ['/opt/millrace'] }, 'linux')
  assert.match(text, /^ExecStart=\/opt\/millrace$/m)
  assert.match(text, /^WorkingDirectory=\/opt$/m)
  assert.match(text, /^Environment=MILLRACE_DATA_DIR=(\S+) MILLRACE_RUNTIME_DIR=\1\/\.runtime$/m)
  assert.doesNotMatch(text, /^Documentation=/m)
  assert.match(
    serviceFile({ ...SERVICE, command: ['/opt/millrace'] }, 'darwin').text,
    /<array><string>\/opt\/millrace<\/string><\/array>/,
  )
})

test('launchd gets a file that names program and data folder', () => {
  const { file, text } = serviceFile({ ...SERVICE, dataDir: '/Users/ann/a&b', isSystem: false }, 'darwin')
  assert.match(file, /Library\/LaunchAgents\/millrace\.plist$/)
  assert.match(text, /<string>\/usr\/bin\/node<\/string><string>\/opt\/millrace\/server\/src\/main\.js<\/string>/)
  assert.match(text, /<key>MILLRACE_DATA_DIR<\/key><string>\/Users\/ann\/a&amp;b<\/string>/)
})

test('service install writes the file of a user once, and prints it with --dry-run', {
  skip: process.platform !== 'linux' && 'needs Linux',
}, async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'millrace-service-'))
  t.after(() => rm(home, { recursive: true }))
  const file = join(home, '.config/systemd/user/millrace.service')
  const run = (...args: string[]) => runCli(['service', 'install', '--user', '--data', '/srv/millrace', ...args], { HOME: home })
  const dry = await run('--dry-run')
  assert.equal(dry.code, 0, dry.err)
  assert.match(dry.out, /^Environment=MILLRACE_DATA_DIR=\/srv\/millrace$/m)
  assert.match(dry.out, /^WantedBy=default\.target$/m)
  assert.doesNotMatch(dry.out, /^(User|ProtectHome)=/m)
  const written = await run()
  assert.match(written.out, /systemctl --user enable --now millrace/)
  assert.equal(dry.out, `# ${file}\n${readFileSync(file, 'utf8')}\n`)
  const again = await run()
  assert.equal(again.code, 1)
  assert.match(again.err, /already exists\. Remove it first/)
})
