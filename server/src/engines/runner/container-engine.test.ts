// The docker command is stood in for by a script with its manners, because no engine comes with npm: what is proven here is which words
// the runner sends to it, and how it reads the answers. `docker info` decides whether an engine is there at all.

import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { findContainerEngine } from './container-engine.ts'
import { writeConfigFile } from './data-folder.ts'
import type { Isolation } from './isolation.ts'
import type { LogEvent } from './log-event.ts'
import { createMask } from './mask.ts'
import { createRunner, type RunSpec } from './runner.ts'

/** `run` plays a component that copies its configuration from the mounted folder; `log` keeps every command line. */
function standIn(t: TestContext, { present = true, outOfMemory = false, forwarder = 'echo ready; cat', stubborn = false } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'millrace-docker-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const script = `#!/bin/sh
echo "$*" >> ${home}/log
case "$1 $2" in
  "info "*) exit 0 ;;
  "image inspect") [ -f ${home}/pulled ] || exit 1; echo '["acme/ex@sha256:abc"]' ;;
  "pull --quiet") [ "$3" = acme/away:1 ] && { echo "no route to host" >&2; exit 1; }; [ "$3" = acme/none:1 ] && { echo "manifest unknown" >&2; exit 1; }; touch ${home}/pulled ;;
  "run "*)
    for word in "$@"; do case $word in *:/data) data=\${word%:/data} ;; esac; done
    case "$*" in *forwarder.mjs*) ${forwarder}; exit 0 ;; esac
    [ "$KBC_TOKEN" = t0ken ] || exit 9
    cp "$data/config.json" "$data/out/tables/seen"; echo "in $KBC_DATADIR"; ${outOfMemory ? 'exit 137' : 'exit 0'} ;;
  "login "*) echo "unauthorized: bad password" >&2; exit 1 ;;
  "rm "*) ${stubborn} && [ ! -f ${home}/tried ] && { touch ${home}/tried; exit 1; }; exit 0 ;;
  "inspect "*) echo ${outOfMemory} ;;
esac
`
  if (present) {
    writeFileSync(join(home, 'docker'), script)
    chmodSync(join(home, 'docker'), 0o755)
  }
  return { home, path: `${home}:/usr/bin:/bin`, log: () => readFileSync(join(home, 'log'), 'utf8').trim().split('\n') }
}

/** Isolated as commands are; how a command is wrapped does not matter here. */
const ISOLATED: Isolation = { mode: 'auto', problem: undefined, wrap: (argv) => argv }

async function runImage(
  t: TestContext,
  docker: ReturnType<typeof standIn>,
  isolation: Isolation = ISOLATED,
  spec: Partial<RunSpec> = {},
  variables?: Readonly<Record<string, string>>,
) {
  const engine = await findContainerEngine(docker.path)
  assert.ok(engine)
  const runner = createRunner({
    runsFolder: join(docker.home, 'runs'),
    cacheFolder: join(docker.home, 'cache'),
    path: docker.path,
    isolation: async () => isolation,
  })
  t.after(runner.close)
  const folder = await runner.newFolder()
  await writeConfigFile(folder, '{"parameters":{}}')
  const digests = await engine.prepare('acme/ex:1')
  const environment = { KBC_RUNID: '7', KBC_TOKEN: 't0ken' }
  const container = await engine.container({
    image: 'acme/ex:1',
    name: 'millrace-test',
    folder,
    memoryBytes: 256e6,
    cpus: 2,
    asRoot: false,
    noSwap: true,
    ...(variables && { variables }),
  })
  const events: LogEvent[] = []
  const limits = { timeoutMs: 10_000, memoryBytes: 256e6, diskBytes: 1e9 }
  const outcome = await runner.run({
    program: { kind: 'image', container, network: 'bridge' },
    folder,
    environment,
    limits,
    mask: createMask(['t0ken']),
    onEvent: (event) => events.push(event),
    ...spec,
  })
  return { digests, outcome, events, folder }
}

test('an image runs with its limits, its network and its user, and its container is removed', async (t) => {
  const docker = standIn(t)
  const { digests, outcome, events, folder } = await runImage(t, docker)
  assert.deepEqual(digests, ['acme/ex@sha256:abc'])
  assert.equal(outcome.reason, 'ended')
  assert.equal(outcome.exitCode, 0)
  assert.equal(readFileSync(join(folder.data, 'out/tables/seen'), 'utf8'), '{"parameters":{}}')
  assert.deepEqual(events, [{ level: 'info', message: 'in /data/' }])
  const run = docker.log().find((line) => line.startsWith('run '))!
  for (const words of [
    '--memory 256000000',
    '--memory-swap 256000000',
    '--cpus 2',
    '--network none',
    `--user ${process.getuid?.()}:`,
    '--security-opt no-new-privileges',
    `--volume ${folder.data}:/data`,
    '--env KBC_RUNID',
    '--env KBC_DATADIR',
  ]) {
    assert.ok(run.includes(words), `${words} in ${run}`)
  }
  assert.ok(!docker.log().join('\n').includes('t0ken'), 'no value is on a command line')
  assert.ok(docker.log().includes('rm --force millrace-test'))
})

test('an image with a network shares that of its forwarder, which is started first and removed with it', async (t) => {
  const docker = standIn(t)
  const { outcome } = await runImage(t, docker, ISOLATED, { egress: { mode: 'guarded', allow: [] }, gelf: 'tcp' })
  assert.equal(outcome.exitCode, 0)
  const [forwarder = '', image = ''] = docker.log().filter((line) => line.startsWith('run '))
  assert.match(forwarder, / --name millrace-test-egress .*--network none .* \/\.millrace\/egress 3128 tcp:\d+ stdin$/)
  assert.match(image, / --network container:millrace-test-egress /)
  for (const name of ['HTTP_PROXY', 'KBC_LOGGER_ADDR']) assert.ok(image.includes(`--env ${name}`), `${name} in ${image}`)
  assert.deepEqual(
    docker.log().filter((line) => line.startsWith('rm')),
    ['rm --force millrace-test', 'rm --force millrace-test-egress'],
  )
})

test('an image that serves is reached by a socket of its forwarder, and variables of users are not in the environment of docker', async (t) => {
  const docker = standIn(t)
  const variables = { DOCKER_HOST: 'tcp://elsewhere', KEY: 'y=z' }
  const serving = { environment: (port: number) => ({ PORT: String(port) }), onOpen: () => {} }
  const { folder } = await runImage(t, docker, ISOLATED, { serving }, variables)
  const [forwarder = '', image = ''] = docker.log().filter((line) => line.startsWith('run '))
  assert.match(forwarder, / --volume \S+\/in:\/\.millrace\/in .* 3128 in:8080:\/\.millrace\/in\/s stdin$/)
  assert.ok(!image.includes('/.millrace/in'), 'the image does not see the socket')
  assert.match(image, / --env PORT /)
  const file = join(folder.root, 'variables')
  assert.ok(image.includes(` --env-file ${file} `), image)
  assert.equal(readFileSync(file, 'utf8'), 'DOCKER_HOST=tcp://elsewhere\nKEY=y=z\n')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.ok(!docker.log().join('\n').includes('DOCKER_HOST'))
})

test('a container that is not removed at once is tried again', async (t) => {
  const docker = standIn(t, { stubborn: true })
  await runImage(t, docker)
  assert.equal(docker.log().filter((line) => line === 'rm --force millrace-test').length, 2)
})

test('a registry that does not answer is asked as often as wanted, and a wrong login is a sentence', async (t) => {
  const docker = standIn(t)
  const engine = await findContainerEngine(docker.path)
  await assert.rejects(engine!.prepare('acme/away:1', { attempts: 1 }), { code: 'runner.imageMissing', message: /no route/ })
  const login = { server: 'registry.example', username: 'ada', password: 'wrong' }
  await assert.rejects(engine!.prepare('acme/ex:1', { login, attempts: 1 }), {
    code: 'runner.imageMissing',
    message: /bad password/,
  })
  assert.equal(docker.log().filter((line) => line.startsWith('pull')).length, 1)
})

test('an image whose forwarder does not start does not run', async (t) => {
  const docker = standIn(t, { forwarder: 'echo no such folder >&2' })
  const run = runImage(t, docker, ISOLATED, { egress: { mode: 'guarded', allow: [] } })
  await assert.rejects(run, { code: 'runner.notIsolated', message: /no such folder/ })
  assert.equal(docker.log().filter((line) => line.startsWith('run ')).length, 1)
})

test('where nothing isolates, an image has the network of its engine, or does not run when isolation is required', async (t) => {
  const docker = standIn(t)
  const problem = 'it needs Linux'
  await runImage(t, docker, { ...ISOLATED, problem }, { egress: { mode: 'guarded', allow: [] } })
  assert.match(
    docker.log().find((line) => line.startsWith('run ')) ?? '',
    / --network bridge --add-host host\.docker\.internal:host-gateway /,
  )
  await assert.rejects(runImage(t, docker, { ...ISOLATED, mode: 'require', problem }), { code: 'runner.notIsolated' })
})

test('an image that the engine ended for memory is out of memory', async (t) => {
  assert.equal((await runImage(t, standIn(t, { outOfMemory: true }))).outcome.reason, 'memory')
})

test('an image that is here with another digest is fetched again', async (t) => {
  const docker = standIn(t)
  const engine = await findContainerEngine(docker.path)
  const pulls = () => docker.log().filter((line) => line.startsWith('pull')).length
  await engine!.prepare('acme/ex:1')
  await engine!.prepare('acme/ex:1', { digest: 'sha256:abc' })
  assert.equal(pulls(), 1)
  await engine!.prepare('acme/ex:1', { digest: 'sha256:def' })
  assert.equal(pulls(), 2)
})

test('an image that does not exist is reported at once, and without an engine there is none', async (t) => {
  const docker = standIn(t)
  const engine = await findContainerEngine(docker.path)
  await assert.rejects(engine!.prepare('acme/none:1'), { code: 'runner.imageMissing' })
  assert.equal(docker.log().filter((line) => line.startsWith('pull')).length, 1)
  const { path } = standIn(t, { present: false })
  assert.equal(await findContainerEngine(path.replace(':/usr/bin:/bin', '')), undefined)
})
