// What the transfer benches share: bytes to send, the memory of another process, a multipart upload by hand.

import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export const SIZE_BYTES = 1024 ** 3

const LINE = 'id,name,price,created\n'
const CHUNK = Buffer.from(LINE.repeat(Math.ceil(65_536 / LINE.length)).slice(0, 65_536))

/** That many bytes, made of one buffer over and over: the sender should cost little. */
export function bytes(size = SIZE_BYTES): Readable {
  let left = size
  return new Readable({
    highWaterMark: 1024 * 1024,
    read() {
      for (let wanted = true; wanted && left > 0; ) {
        const chunk = left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK
        left -= chunk.length
        wanted = this.push(chunk)
      }
      if (left === 0) this.push(null)
    },
  })
}

/** Sends a body; answers the seconds it took until the answer was there. */
export async function send(
  url: string,
  method: string,
  headers: Record<string, string | number>,
  body: Readable,
): Promise<number> {
  const started = performance.now()
  const outgoing = request(url, { method, headers, agent: false })
  const answered = new Promise<void>((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      response.resume()
      response.on('end', () => (response.statusCode! < 300 ? resolve() : reject(new Error(`answered ${response.statusCode}`))))
    })
  })
  await Promise.all([pipeline(body, outgoing), answered])
  return (performance.now() - started) / 1000
}

const BOUNDARY = 'millrace-bench-boundary'

/** The same bytes as the field `data` of a form. */
export async function sendForm(url: string, token: string, size = SIZE_BYTES): Promise<number> {
  const head = Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="data"; filename="bench.csv"\r\n\r\n`)
  const tail = Buffer.from(`\r\n--${BOUNDARY}--\r\n`)
  const form = Readable.from(concat([head], bytes(size), [tail]), { objectMode: false, highWaterMark: 1024 * 1024 })
  const headers = {
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    'content-length': head.length + size + tail.length,
    'x-storageapi-token': token,
  }
  return send(url, 'POST', headers, form)
}

async function* concat(...parts: (Iterable<Buffer> | AsyncIterable<Buffer>)[]) {
  for (const part of parts) yield* part
}

/** The process of the stack that owns this data folder, found by its environment; Linux only. */
export function serverPid(dataDir: string): number {
  const owns = (pid: string) => {
    try {
      return (
        readFileSync(`/proc/${pid}/environ`, 'utf8').includes(dataDir) &&
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[1]?.endsWith('main.ts')
      )
    } catch {
      return false
    }
  }
  return Number(readdirSync('/proc').find((name) => /^\d+$/.test(name) && owns(name)) ?? 0)
}

/** Processor seconds another process has used so far; Linux only. On a busy machine this is more reliable than the clock. */
export function processorSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return 0
  }
}

export interface Memory {
  readonly residentMB: number
  readonly peakMB: number
}

/** Of another process; Linux only, undefined elsewhere. */
export function memoryOf(pid: number): Memory {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const megabytes = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024)
    return { residentMB: megabytes('VmRSS'), peakMB: megabytes('VmHWM') }
  } catch {
    return { residentMB: 0, peakMB: 0 }
  }
}
