// List, detail and update of a configuration with 1,000 versions and 500 rows, against one with 10 versions and 5 rows. Reads accept gzip,
// as the clients do (Guzzle, requests and Go's http all send it by themselves). `plain` is
// the same without, a hundred times the bytes through the socket; `bare` is what these bytes alone cost a bare Fastify route.

import { startStackProcess } from '../tests/support/stack-process.ts'
import { inTurns, type Load, report, requestsPerSecond, round, startBare } from './support/measure.ts'

const SHAPES = { small: { rows: 5, versions: 10 }, large: { rows: 500, versions: 1000 } } as const
const cleanups: Array<() => unknown> = []
const stack = await startStackProcess({ after: (work) => cleanups.push(work as () => unknown) }) // it passes one function without parameters
// Two components, so that each list holds one of the two.
const placeOf = {
  small: '/v2/storage/components/platform.variables/configs',
  large: '/v2/storage/components/platform.ex-http/configs',
}

for (const [name, { rows, versions }] of Object.entries(SHAPES) as ['small' | 'large', { rows: number; versions: number }][]) {
  const place = placeOf[name]
  await stack.post(place, { name, configurationId: 'bench' })
  for (let i = 0; i < rows; i++) await stack.post(`${place}/bench/rows`, { rowId: `r${i}`, configuration: { i } })
  for (let i = rows + 1; i < versions; i++) await stack.request('PUT', `${place}/bench`, { configuration: { version: i } })
}

let counter = 0
const headers = { 'x-storageapi-token': stack.masterToken, 'content-type': 'application/json' }
const shape = { headers, connections: 4, durationMs: 1500 }
const loads = {
  list: (place: string) => ({ ...shape, url: stack.url + place }),
  detail: (place: string) => ({ ...shape, url: `${stack.url}${place}/bench` }),
  update: (place: string) => ({
    ...shape,
    url: `${stack.url}${place}/bench`,
    method: 'PUT',
    body: () => JSON.stringify({ configuration: { counter: counter++ } }),
  }),
}

async function compare(small: Load, large: Load) {
  await requestsPerSecond({ ...small, durationMs: 500 }) // warm
  await requestsPerSecond({ ...large, durationMs: 500 })
  const figures = await inTurns(5, { small: () => requestsPerSecond(small), large: () => requestsPerSecond(large) })
  return { ratio: figures.small / figures.large, small: Math.round(figures.small), large: Math.round(figures.large) }
}

/** How much less often a bare route answers when its answer is as large. */
async function bareRatio(): Promise<number> {
  const bytesOf = async (place: string) => JSON.stringify((await stack.get(`${place}/bench`)).body).length
  const bare = await Promise.all(
    [placeOf.small, placeOf.large].map(async (place) => startBare('./bare-route.ts', 'x', String(await bytesOf(place)))),
  )
  const [small, large] = bare.map(({ url }) => ({ ...shape, url: `${url}/` }))
  const { ratio } = await compare(small!, large!)
  for (const { stop } of bare) await stop()
  return ratio
}

for (const [name, load] of Object.entries(loads)) {
  const [smallLoad, largeLoad] = [load(placeOf.small), load(placeOf.large)]
  const packed = (one: Load) => ({ ...one, headers: { ...one.headers, 'accept-encoding': 'gzip' } })
  const { ratio, small, large } = await compare(packed(smallLoad), packed(largeLoad))
  const plain = name === 'update' ? undefined : await compare(smallLoad, largeLoad)
  report({
    bench: `configuration-size-${name}`,
    ratio,
    target: '<= 3',
    smallPerSecond: small,
    largePerSecond: large,
    ...(plain && {
      plainRatio: round(plain.ratio),
      plainSmallPerSecond: plain.small,
      plainLargePerSecond: plain.large,
      bareRatio: round(await bareRatio()),
    }),
  })
}
for (const cleanup of cleanups) await cleanup()
