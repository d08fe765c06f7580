// An API to extract from, as a process of its own. `/items?since=K` answers the items with an id above K, a thousand at a time, each with
// ten fields, an object and a list; `/thin?since=K` the same with four short fields each. `/slow?since=K` answers one item after five
// milliseconds, `/families?count=N` a list of parents and `/families/N` one child after fifty. Prints its address; ends when stdin closes.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

const PAGE = 1000
const SLOW_PAGES = 400
const CHILD_MS = 50
const items = Number(process.argv[2])
const cities = ['Brno', 'Ústí nad Labem', 'New York', 'São Paulo', '東京', 'Köln']

function item(id: number): string {
  const h = (id * 2654435761) >>> 0
  const line = (n: number) => `{"sku":"SKU-${n % 1000}","qty":${1 + (n % 9)}}`
  return (
    `{"id":${id},"name":"Customer ${h % 100000}","email":"user${id}@example.com","active":${h % 3 === 0},"score":${(h % 10000) / 100},` +
    `"created_at":"2024-05-${10 + (h % 18)}T${10 + (h % 13)}:00:00Z","country":"CZ","note":"said \\"${h % 997}\\", then left",` +
    `"deleted_at":${h % 10 === 0 ? '"2024-12-31"' : null},"kind":"k${h % 7}",` +
    `"address":{"street":"Main ${h % 500}","city":"${cities[h % cities.length]}","zip":"${10000 + (h % 90000)}"},` +
    `"lines":[${line(h)},${line(h >>> 3)}]}`
  )
}

const thinItem = (id: number): string => `{"id":${id},"name":"name ${id}","amount":${(id % PAGE) * 1.5},"tag":"x"}`

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://api')
  if (pathname.startsWith('/families/')) await wait(CHILD_MS)
  if (pathname.startsWith('/families')) {
    const ids =
      pathname === '/families'
        ? Array.from({ length: Number(searchParams.get('count')) }, (_, i) => i)
        : [Number(pathname.split('/')[2])]
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items: ids.map((id) => ({ id })) }))
    return
  }
  const since = Number(searchParams.get('since'))
  const isSlow = pathname === '/slow'
  if (isSlow) await wait(5)
  const last = isSlow ? Math.min(SLOW_PAGES, since + 1) : Math.min(items, since + PAGE)
  const texts: string[] = []
  for (let id = since + 1; id <= last; id++) texts.push(pathname === '/thin' ? thinItem(id) : item(id))
  const body = Buffer.from(`{"items":[${texts.join(',')}]}`)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
process.stdin.on('end', () => process.exit()).resume()
