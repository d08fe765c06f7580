// Runs the benches, all or those named, one after the other: `node bench/run.ts [name ...]`. Prints their JSON lines; exit code 1 when a ratio misses its target.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const wanted = process.argv.slice(2)
const programs = globSync('**/*.bench.ts', { cwd: FOLDER, exclude: ['peers'] })
  .sort()
  .filter((file) => wanted.length === 0 || wanted.some((name) => file.includes(name)))
const problems: string[] = []

for (const program of programs) {
  const child = spawn(process.execPath, [FOLDER + program], { stdio: ['ignore', 'pipe', 'inherit'] })
  let lines = 0
  createInterface({ input: child.stdout }).on('line', (line) => {
    console.log(line)
    if (!line.startsWith('{')) return
    lines++
    const { bench, ratio, target } = JSON.parse(line) as { bench: string; ratio: number; target: string | number } // the convention of this folder
    if (!meets(ratio, target)) problems.push(`${bench}: ${ratio}, target ${target}`)
  })
  const [code] = await once(child, 'close')
  if (code !== 0) problems.push(`${program} ended with ${code}`)
  else if (lines === 0) problems.push(`${program} reported nothing`)
}

if (programs.length === 0) problems.push(`no bench is named ${wanted.join(' or ')}`)
for (const problem of problems) console.error(`MISSED ${problem}`)
process.exit(problems.length === 0 ? 0 : 1)

/** `>= 0.5`, `<= 1.2`, or a number alone for at least. */
function meets(ratio: number, target: string | number): boolean {
  const [, direction, bound] = String(target).match(/^(>=|<=)?\s*([\d.]+)/) ?? []
  return direction === '<=' ? ratio <= Number(bound) : ratio >= Number(bound)
}
