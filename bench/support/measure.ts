// What the benches share. A figure of ours is always divided by a figure of the bare thing, taken in the same run, in turns: machines
// and their moods differ, the ratio stays.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'

/** Runs every candidate once per round, in turns, and answers each one's median. */
export async function inTurns<Name extends string>(
  rounds: number,
  candidates: Readonly<Record<Name, () => Promise<number> | number>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(candidates) as Name[] // the keys of a record are its names
  const figures = new Map<Name, number[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) for (const name of names) figures.get(name)!.push(await candidates[name]())
  return Object.fromEntries(names.map((name) => [name, median(figures.get(name)!)])) as Record<Name, number>
}

export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export const round = (value: number): number => Math.round(value * 1000) / 1000

export interface BenchLine {
  readonly bench: string
  readonly ratio: number
  /** `>= 0.5` or `<= 1.2`; run.ts fails when the ratio misses it. */
  readonly target: `${'>=' | '<='} ${number}`
  readonly [detail: string]: unknown
}

export function report({ ratio, ...line }: BenchLine): void {
  const { bench, target, ...details } = line
  console.log(JSON.stringify({ bench, ratio: round(ratio), target, ...details }))
}

export interface Load {
  readonly url: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A function makes another body for every request. */
  readonly body?: string | (() => string)
  readonly connections: number
  readonly durationMs: number
}

/** Answers per second over keep-alive connections. Speaks HTTP on bare sockets, so that the client costs little beside the server. */
export async function requestsPerSecond({
  url,
  method = 'GET',
  headers = {},
  body = '',
  connections,
  durationMs,
}: Load): Promise<number> {
  const { hostname, port, pathname, search, host } = new URL(url)
  const requestWith = (content: string) => {
    const lines = {
      host,
      connection: 'keep-alive',
      ...headers,
      ...(method === 'GET' ? {} : { 'content-length': Buffer.byteLength(content) }),
    }
    const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
    return Buffer.from(`${method} ${pathname}${search} HTTP/1.1\r\n${head.join('')}\r\n${content}`)
  }
  const fixed = typeof body === 'string' ? requestWith(body) : undefined
  const request = () => fixed ?? requestWith((body as () => string)()) // a function when it is no text
  const started = performance.now()
  const counts = await Promise.all(
    Array.from({ length: connections }, () => oneConnection(hostname, Number(port), request, started + durationMs)),
  )
  return (counts.reduce((sum, count) => sum + count, 0) / (performance.now() - started)) * 1000
}

/** Counts bytes and looks at nothing but the head of an answer, in one buffer of its own: large answers must not cost the client more than the server. */
function oneConnection(host: string, port: number, request: () => Buffer, until: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let answers = 0
    let started = ''
    let missing = 0
    const onBytes = (size: number, bytes: Uint8Array): boolean => {
      if (missing > 0) missing -= size
      else {
        started += Buffer.from(bytes.buffer, bytes.byteOffset, size).toString('latin1') // one character per byte, so that lengths are bytes
        if (started.length >= 12 && !started.startsWith('HTTP/1.1 2')) {
          socket.destroy(new Error(`Unexpected answer: ${started.slice(0, 500)}`))
          return false
        }
        const length = answerLength(started)
        if (length === undefined) return true
        missing = length - started.length
      }
      if (missing > 0) return true
      started = ''
      answers++
      if (performance.now() < until) socket.write(request())
      else socket.end(() => resolve(answers))
      return true
    }
    const onread = { buffer: Buffer.alloc(READ_BYTES), callback: onBytes }
    const socket = connect({ host, port, noDelay: true, onread }, () => socket.write(request()))
    socket.on('error', reject)
  })
}

const READ_BYTES = 256 * 1024

/** Bytes of the first answer, or undefined while its head (or, where no length is declared, its end) has not arrived. */
function answerLength(text: string): number | undefined {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const declared = text.slice(0, headEnd).match(/\r\ncontent-length: *(\d+)/i)?.[1]
  if (declared !== undefined) return headEnd + 4 + Number(declared)
  const chunksEnd = text.indexOf('\r\n0\r\n\r\n', headEnd)
  return chunksEnd < 0 ? undefined : chunksEnd + 7
}

/** Run in a process: what it has used, as the last line of standard error. */
const USAGE = `data:text/javascript,${encodeURIComponent(`process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  const cpu = (userCPUTime + systemCPUTime) / 1e6
  process.stderr.write('\\n' + JSON.stringify({ cpu, mib: maxRSS / 1024 }) + '\\n')
})`)}`

export interface NodeRun {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly mib: number
}

/** A Node program from start to end, and what it used. */
export async function runNode(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<NodeRun> {
  const began = performance.now()
  const child = spawn(process.execPath, ['--import', USAGE, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${errors}`)
  const { cpu, mib } = JSON.parse(errors.trim().split('\n').at(-1)!) as { cpu: number; mib: number } // written by USAGE
  return { seconds: (performance.now() - began) / 1000, cpuSeconds: cpu, mib }
}

const TICKS_PER_SECOND = 100

/** Processor time, in seconds, of all processes below this one except some, what they started and what of that has ended. For Linux. */
export function cpuSecondsBelow(except: readonly number[]): number {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(timesOf)
  const sumBelow = (parent: number): number =>
    processes
      .filter((one) => one.parent === parent && !except.includes(one.pid))
      .reduce((sum, { pid, ticks }) => sum + ticks + sumBelow(pid), 0)
  return sumBelow(process.pid) / TICKS_PER_SECOND
}

/** Processor time of this process and all below it while `work` runs: it is reliable on a busy machine. For Linux. */
export async function usedCpuSeconds(work: () => Promise<unknown>): Promise<number> {
  const now = () => (timesOf(String(process.pid))[0]?.ticks ?? 0) / TICKS_PER_SECOND + cpuSecondsBelow([]) // with workers that have ended
  const before = now()
  await work()
  return now() - before
}

function timesOf(pid: string): { readonly pid: number; readonly parent: number; readonly ticks: number }[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // the name before may hold blanks
    const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) // own, then of ended children: user, system
    return [{ pid: Number(pid), parent: Number(fields[1]), ticks }]
  } catch {
    return [] // it has ended meanwhile
  }
}

/** Runs a program of this folder that prints its address first and ends when its stdin closes. */
export async function startBare(
  file: string,
  ...args: readonly string[]
): Promise<{ readonly url: string; readonly pid: number; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [new URL(file, import.meta.url).pathname, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [url] = await once(createInterface({ input: child.stdout }), 'line')
  return {
    url: String(url),
    pid: child.pid ?? 0,
    stop: async () => {
      const exited = once(child, 'exit')
      child.stdin.end()
      await exited
    },
  }
}
