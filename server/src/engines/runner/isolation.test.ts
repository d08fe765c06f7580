// Real programs in real namespaces. Where the kernel allows none, only the first test checks something: the warning.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { writeConfigFile } from './data-folder.ts'
import { findIsolation, type IsolationMode } from './isolation.ts'
import type { LogEvent } from './log-event.ts'
import { createMask } from './mask.ts'
import { createRunner, type RunSpec } from './runner.ts'

const PATH = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`
const LIMITS = { timeoutMs: 240_000, memoryBytes: 256 * 2 ** 20, diskBytes: 2 ** 30 }
const UID = 65534

const settings = (mode: IsolationMode, hidden: readonly string[] = []) => ({ mode, path: PATH, readable: [], hidden, uid: UID })
const { problem } = await findIsolation(settings('auto'))
/** Tests of what holds where it holds. */
const isolated = (name: string, work: (t: TestContext) => Promise<void>) => problem === undefined && test(name, work)

/** A stack's folder with a secret in it, a component's own folder below it, and a runner. */
function rig(t: TestContext, place = tmpdir()) {
  const home = mkdtempSync(join(place, 'millrace-isolation-'))
  const own = join(home, 'components/own')
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'program.sh'), 'echo from its own folder')
  writeFileSync(join(home, 'root-keys'), 'canary-root-key', { mode: 0o644 })
  const isolation = findIsolation(settings('require', [home]))
  const runner = createRunner({
    runsFolder: join(home, 'runs'),
    cacheFolder: join(home, 'cache'),
    path: PATH,
    isolation: () => isolation,
  })
  t.after(async () => {
    await runner.close()
    rmSync(home, { recursive: true, force: true })
  })
  const shell = async (script: string, more: Partial<RunSpec> = {}) => {
    const folder = more.folder ?? (await runner.newFolder())
    const events: LogEvent[] = []
    const outcome = await runner.run({
      program: { kind: 'command', command: ['/bin/sh', '-c', script], folder: own },
      environment: {},
      limits: LIMITS,
      mask: createMask([]),
      onEvent: (event) => events.push(event),
      ...more,
      folder,
    })
    return { outcome, events, folder, said: events.map(({ message }) => message).join('\n') }
  }
  return { home, runner, shell }
}

/** A server on this machine's loopback that nobody may reach. */
async function startCanary(t: TestContext) {
  const hits: string[] = []
  const server = createServer((request, response) => {
    hits.push(`${request.method} ${request.url}`)
    response.end('canary')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { port: (server.address() as AddressInfo).port, hits }
}

const fetching = (address: string) =>
  `node -e 'fetch("${address}").then(async (r) => console.log(r.status, await r.text()), (e) => console.log("failed", e.cause?.code ?? e.message))'`

test('where components cannot be isolated, that is said with its reason, and MILLRACE_ISOLATION=require runs none', async (t) => {
  const off = await findIsolation(settings('off'))
  assert.equal(off.problem, 'MILLRACE_ISOLATION is off')
  if (problem !== undefined) t.diagnostic(problem)
  if (problem !== undefined) assert.match(problem, /needs Linux|does not allow it \(.+\)/)
  const home = mkdtempSync(join(tmpdir(), 'millrace-isolation-'))
  const runner = createRunner({
    runsFolder: join(home, 'runs'),
    cacheFolder: join(home, 'cache'),
    path: PATH,
    isolation: async () => ({ ...off, mode: 'require', problem: 'it is not there' }),
  })
  t.after(async () => {
    await runner.close()
    rmSync(home, { recursive: true, force: true })
  })
  const folder = await runner.newFolder()
  const program = { kind: 'command', command: ['/bin/sh', '-c', 'echo ran'], folder: folder.data } as const
  const spec = { program, folder, environment: {}, limits: LIMITS, mask: createMask([]), onEvent: () => {} }
  await assert.rejects(runner.run(spec), { code: 'runner.notIsolated', message: /it is not there/ })
})

isolated('a component has its data folder, its own folder and the programs of the system, and nothing else', async (t) => {
  const { runner, shell, home } = rig(t)
  const other = await runner.newFolder()
  await writeConfigFile(other, '{"parameters":{"#secret":"canary-of-another-run"}}')
  const folder = await runner.newFolder()
  await writeConfigFile(folder, '{"parameters":{"a":1}}')
  const { outcome, said } = await shell(
    `cat "$KBC_DATADIR/config.json" > "$KBC_DATADIR/out/files/a"; sh ./program.sh; echo > "$TMPDIR/x"; echo > /tmp/y
     cat ${home}/root-keys ${other.data}/config.json; ls ${home} ${home}/runs/*; cat /proc/*/environ | tr '\\0' '\\n'; ls /var /boot /etc/shadow; ls /proc
     echo > ./program.sh; echo > /usr/bin/x; grep Cap /proc/self/status; exit 7`,
    { folder },
  )
  assert.equal(outcome.exitCode, 7)
  assert.equal(readFileSync(join(folder.data, 'out/files/a'), 'utf8'), '{"parameters":{"a":1}}')
  assert.match(said, /^from its own folder$/m)
  assert.doesNotMatch(said, /canary/)
  assert.match(said, /program\.sh: Read-only file system/)
  assert.match(said, /\/usr\/bin\/x: (Read-only file system|Permission denied)/)
  assert.match(said, /CapEff:\s+0{16}/)
  assert.doesNotMatch(said, new RegExp(`^${process.pid}$`, 'm'))
  for (const path of ['/var', '/boot', '/etc/shadow']) assert.match(said, new RegExp(`${path}'?: No such file`))
  if (process.getuid?.() === 0) assert.equal(statSync(join(folder.data, 'out/files/a')).uid, UID)
})

isolated('what a component leaves running ends with it, also with a session and an empty environment of its own', async (t) => {
  const { shell } = rig(t)
  const seconds = `98${randomBytes(4).readUInt32BE()}`
  await shell(`setsid env -i sleep ${seconds} & sleep ${seconds} & wait 1 2>/dev/null; sleep 0.2; true`)
  const left = readdirSync('/proc').filter((pid) => {
    const path = `/proc/${pid}/cmdline`
    return /^\d+$/.test(pid) && existsSync(path) && readText(path).includes(seconds)
  })
  assert.deepEqual(left, [])
})

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // ended meanwhile
  }
}

isolated('exit codes, signals and limits are those of the program', async (t) => {
  const { shell } = rig(t)
  assert.equal((await shell('exit 3')).outcome.exitCode, 3)
  assert.equal((await shell('kill -TERM $$')).outcome.exitCode, 143)
  assert.equal((await shell('sleep 60', { limits: { ...LIMITS, timeoutMs: 300 } })).outcome.reason, 'timeout')
  const full = await shell('head -c 9000000 /dev/zero > "$KBC_DATADIR/out/files/a"', { limits: { ...LIMITS, diskBytes: 1e6 } })
  assert.equal(full.outcome.reason, 'disk')
})

isolated('without a network nothing is reached, not even loopback', async (t) => {
  const { shell } = rig(t)
  const { port, hits } = await startCanary(t)
  const { said } = await shell(fetching(`http://127.0.0.1:${port}/`))
  assert.match(said, /failed/)
  assert.deepEqual(hits, [])
})

isolated('the proxy is the only way out, and lets through what the guard allows', async (t) => {
  const { shell } = rig(t)
  const { port, hits } = await startCanary(t)
  const other = await startCanary(t)
  const egress = { mode: 'guarded', allow: [`127.0.0.1:${port}`] } as const
  const direct = await shell(`unset HTTP_PROXY http_proxy NODE_USE_ENV_PROXY; ${fetching(`http://127.0.0.1:${port}/direct`)}`, {
    egress,
  })
  assert.match(direct.said, /failed ECONNREFUSED/)
  const allowed = await shell(fetching(`http://127.0.0.1:${port}/allowed`), { egress })
  assert.match(allowed.said, /200 canary/)
  assert.deepEqual(hits, ['GET /allowed'])
  const refused = await shell(fetching(`http://127.0.0.1:${other.port}/`), { egress })
  assert.match(refused.said, new RegExp(`A connection to 127.0.0.1:${other.port} was refused: port ${other.port} is not open`))
  assert.deepEqual(other.hits, [])
})

isolated('plain requests and SOCKS are served and guarded too', async (t) => {
  const { shell } = rig(t)
  const { port, hits } = await startCanary(t)
  const other = await startCanary(t)
  const egress = { mode: 'guarded', allow: [`localhost:${port}`] } as const
  const ask = (target: string) =>
    `node -e '
      const net = require("net"), collect = (s) => new Promise((r) => { let t = ""; s.on("data", (d) => t += d); s.on("close", () => r(t)) })
      const [host, port] = "${target}".split(":")
      const plain = net.connect(3128, "127.0.0.1", () => plain.write("GET http://${target}/plain HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"))
      const socks = net.connect(3128, "127.0.0.1", () => socks.write(Buffer.concat([Buffer.from([5,1,0,5,1,0,3,host.length]), Buffer.from(host), Buffer.from([port >> 8, port & 255]), Buffer.from("GET /socks HTTP/1.0\\r\\n\\r\\n")])))
      Promise.all([collect(plain), collect(socks)]).then(([p, s]) => console.log(p.split("\\r")[0], "|", s.includes("canary"), s.charCodeAt(3)))'`
  assert.match((await shell(ask(`localhost:${port}`), { egress })).said, /HTTP\/1\.1 200 OK \| true 0/)
  assert.deepEqual(hits.toSorted(), ['GET /plain', 'GET /socks'])
  assert.match((await shell(ask(`localhost:${other.port}`), { egress })).said, /HTTP\/1\.1 403 Forbidden \| false 2/)
  assert.deepEqual(other.hits, [])
})

for (const transport of ['tcp', 'http', 'udp'] as const)
  isolated(`a log over GELF (${transport}) leaves the isolated component, and nothing else does`, async (t) => {
    const { shell } = rig(t)
    const { port, hits } = await startCanary(t)
    const message = '{"version":"1.1","host":"x","timestamp":1,"short_message":"hello","level":6}'
    const send = {
      tcp: `s = require("net").connect(P, A, () => s.end(M + "\\0"))`,
      http: 'fetch("http://" + A + ":" + P + "/gelf", { method: "POST", body: M })',
      udp: 's = require("dgram").createSocket("udp4"); s.send(M, P, A, () => setTimeout(() => s.close(), 300))',
    }[transport]
    const { said } = await shell(
      `node -e 'const A = process.env.KBC_LOGGER_ADDR, P = Number(process.env.KBC_LOGGER_PORT), M = JSON.stringify(${message}); let s; ${send}'
       ${fetching(`http://127.0.0.1:${port}/`)} >/dev/null`,
      { gelf: transport },
    )
    assert.match(said, /^hello$/m)
    assert.deepEqual(hits, [])
  })

isolated(
  'a program of the stack that works on a cluster has the network of the machine, and still nothing else of its disk',
  async (t) => {
    const { home, shell } = rig(t)
    const canary = await startCanary(t)
    const jars = join(home, 'jars')
    const cache = join(home, 'cache-of-programs')
    mkdirSync(jars)
    writeFileSync(join(jars, 'a.jar'), 'bytes of a jar')
    const script = `${fetching(`http://127.0.0.1:${canary.port}/`)}; cat ${jars}/a.jar; echo kept > ${cache}/x; cat ${home}/root-keys; test -s /etc/hosts && echo hosts`
    const program = { kind: 'command', command: ['/bin/sh', '-c', script], folder: join(home, 'components/own') } as const
    const open = await shell(script, { hostNetwork: true, program: { ...program, readable: [jars], writable: [cache] } })
    for (const words of ['200 canary', 'bytes of a jar', 'hosts']) assert.ok(open.said.includes(words), open.said)
    assert.ok(!open.said.includes('canary-root-key'), open.said)
    assert.equal(readFileSync(join(cache, 'x'), 'utf8'), 'kept\n')
    const closed = await shell(script, { program })
    assert.match(closed.said, /failed/)
    assert.deepEqual(canary.hits, ['GET /'])
  },
)

isolated('a component has its folder and scratch space where the stack keeps its data in shared memory', async (t) => {
  const { shell } = rig(t, '/dev/shm')
  const { outcome, said } = await shell(
    'cd "$KBC_DATADIR" && echo one > out/files/a && cp out/files/a /dev/shm/b && cat /dev/shm/b; ls /dev/shm',
  )
  assert.equal(outcome.exitCode, 0, said)
  assert.match(said, /^one$/m)
})

isolated('a program makes no user namespaces of its own', async (t) => {
  const { shell } = rig(t)
  const { said } = await shell('unshare --user --map-root-user id -u && echo made || echo refused')
  assert.match(said, /refused/)
  assert.doesNotMatch(said, /made/)
})
