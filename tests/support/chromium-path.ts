// Where Chromium is. Its package unpacks it into the temporary folder of the process, in place: of several test files that begin at once
// on a fresh machine, some would start a program that another one is still writing. Here each unpacks into a folder of its own, and the
// first to be done moves it to where all look for it, also those of later runs.

import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import chromium from '@sparticuz/chromium'

const ITS_PACKAGE = new URL('../../package.json', import.meta.resolve('@sparticuz/chromium'))
const { version } = JSON.parse(readFileSync(ITS_PACKAGE, 'utf8')) as { version: string }

const KEPT = fileURLToPath(new URL('../../.cache', import.meta.url))

export async function chromiumPath(): Promise<string> {
  const place = join(KEPT, `chromium-${version}`)
  if (!existsSync(place)) await unpackInto(place)
  return join(place, 'chromium')
}

async function unpackInto(place: string): Promise<void> {
  await mkdir(KEPT, { recursive: true })
  const own = await mkdtemp(`${place}-`)
  const before = process.env.TMPDIR
  process.env.TMPDIR = own // where the package unpacks to
  try {
    await chromium.executablePath()
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
  await rename(own, place).catch(() => rm(own, { recursive: true })) // another file was faster
}
