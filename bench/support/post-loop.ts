// What a plain script does: reads a CSV file with a header line, posts each row as JSON, so many at once, and keeps what came back.
// post-loop.ts FILE URL CONCURRENCY

import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const [, , file = '', url = '', concurrency = '1'] = process.argv
const [, ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n')
const answers: string[] = []
let next = 0
async function worker(): Promise<void> {
  while (next < lines.length) {
    const [id, name, total] = JSON.parse(`[${lines[next++]}]`) as string[] // every value is quoted
    const response = await fetch(`${url}p`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: Number(id), name, total: Number(total) }),
    })
    const body = (await response.json()) as { id: string } // of the API of the bench
    answers.push(`${id},${response.status},${body.id}`)
  }
}
await Promise.all(Array.from({ length: Number(concurrency) }, worker))
writeFileSync(new URL('../../answers.csv', pathToFileURL(file)), answers.join('\n'))
