// A script for one API, written by hand: Node's own fetch and JSON.parse, and two CSV files, one for the items and one for their
// lines. The columns are fixed, and so is everything that can stand in them.

import { createWriteStream } from 'node:fs'
import { join } from 'node:path'

interface Item {
  readonly id: number
  readonly address: Readonly<Record<string, unknown>>
  readonly lines: readonly Readonly<Record<string, unknown>>[]
  readonly [key: string]: unknown
}

const SCALARS = ['id', 'name', 'email', 'active', 'score', 'created_at', 'country', 'note', 'deleted_at', 'kind']
const ADDRESS = ['street', 'city', 'zip']
const LINE = ['sku', 'qty']

const [, , url, folder] = process.argv
const items = createWriteStream(join(folder!, 'items.csv'))
const lines = createWriteStream(join(folder!, 'lines.csv'))
const cell = (value: unknown) => `"${String(value ?? '').replaceAll('"', '""')}"`
const row = (values: readonly unknown[]) => `${values.map(cell).join(',')}\n`

items.write(row([...SCALARS, ...ADDRESS.map((key) => `address_${key}`)]))
lines.write(row([...LINE, 'item_id']))
for (let since = 0; ; ) {
  const response = await fetch(`${url}?since=${since}`)
  const page = ((await response.json()) as { items: Item[] }).items // the API of extractor-api.ts
  if (page.length === 0) break
  let itemRows = ''
  let lineRows = ''
  for (const item of page) {
    itemRows += row([...SCALARS.map((key) => item[key]), ...ADDRESS.map((key) => item.address[key])])
    for (const line of item.lines) lineRows += row([...LINE.map((key) => line[key]), item.id])
  }
  items.write(itemRows)
  lines.write(lineRows)
  since = page.at(-1)!.id
}
await Promise.all([items, lines].map((file) => new Promise((done) => file.end(done))))
