// `npm run executable`: one file that runs Millrace on this kind of machine without an installation, in dist/executable (ADR 0058). It is
// Node's single executable application with the npm package, its two dependencies and Node itself inside. The release workflow runs it on
// each system.

import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constants, zstdCompressSync } from 'node:zlib'
import { inject } from 'postject'
import { build } from 'vite'
import { INSTALLED, makePackage } from '../package.ts'
import { type PackedFile, type PackedIndex, sha256 } from './packed.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Of Node: it marks a program that has embedded data. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
const NODE = process.platform === 'win32' ? 'node.exe' : 'bin/node'

/** Of the package in `target`/package. Makes `target`/executable/millrace-<version>-<system>-<processor>; returns its path. */
export async function makeExecutable(target: string, compressionLevel: number): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const work = join(target, 'executable')
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work, { recursive: true })
  const sources = [
    ...filesBelow(join(target, 'package'), ''),
    ...installedFolders().flatMap((path) => filesBelow(join(ROOT, path), path)),
    { path: NODE, file: process.execPath },
  ]
  const contents = sources.map(({ file }) => readFileSync(file))
  const files = sources.map(({ path }, at): PackedFile => {
    const bytes = contents[at] as Buffer // one for each source
    const isNative = path === NODE || /\.(node|so|dylib|dll)$/.test(path)
    return { path, size: bytes.length, digest: sha256(bytes), isProgram: path === NODE || path.endsWith('.mjs'), isNative }
  })
  const index: PackedIndex = {
    version,
    digest: sha256(files.map(({ path, digest }) => `${path} ${digest}\n`).join('')),
    node: NODE,
    main: 'cli/bin/millrace.mjs',
    files,
  }
  writeFileSync(join(work, 'index.json'), JSON.stringify(index))
  const parameters = { [constants.ZSTD_c_compressionLevel]: compressionLevel }
  writeFileSync(join(work, 'files.zst'), zstdCompressSync(Buffer.concat(contents), { params: parameters }))
  await bundleLauncher(work)
  return assemble(work, `millrace-${version}-${process.platform}-${process.arch}`)
}

async function assemble(work: string, name: string): Promise<string> {
  const config = {
    main: join(work, 'launcher.cjs'),
    output: join(work, 'blob'),
    disableExperimentalSEAWarning: true,
    assets: { index: join(work, 'index.json'), files: join(work, 'files.zst') },
  }
  writeFileSync(join(work, 'config.json'), JSON.stringify(config))
  execFileSync(process.execPath, ['--experimental-sea-config', join(work, 'config.json')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const executable = join(work, process.platform === 'win32' ? `${name}.exe` : name)
  copyFileSync(process.execPath, executable)
  chmodSync(executable, 0o755)
  const isMac = process.platform === 'darwin'
  if (isMac) execFileSync('codesign', ['--remove-signature', executable])
  await inject(executable, 'NODE_SEA_BLOB', readFileSync(config.output), {
    sentinelFuse: FUSE,
    ...(isMac && { machoSegmentName: 'NODE_SEA' }),
  })
  if (isMac) execFileSync('codesign', ['--sign', '-', executable])
  for (const made of ['launcher.cjs', 'blob', 'index.json', 'files.zst', 'config.json']) rmSync(join(work, made))
  return executable
}

const bundleLauncher = (work: string) =>
  build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    build: {
      ssr: true,
      outDir: work,
      emptyOutDir: false,
      target: 'node24',
      minify: false,
      rolldownOptions: {
        input: fileURLToPath(new URL('./launcher.ts', import.meta.url)),
        output: { format: 'cjs', entryFileNames: 'launcher.cjs' },
      },
    },
  })

/** The packages that are not in the bundles, with what they need, as they are installed here. */
function installedFolders(): readonly string[] {
  const found = new Set<string>()
  const add = (name: string): void => {
    const path = `node_modules/${name}`
    if (found.has(path) || !existsSync(join(ROOT, path))) return // one of another system
    found.add(path)
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>
      optionalDependencies?: Record<string, string>
    }
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) add(needed)
  }
  for (const name of Object.keys(INSTALLED)) add(name)
  return [...found]
}

const filesBelow = (folder: string, prefix: string): readonly { readonly path: string; readonly file: string }[] =>
  globSync('**', { cwd: folder })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .sort()
    .map((file) => ({ path: [prefix, ...relative(folder, file).split(sep)].filter(Boolean).join('/'), file }))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = join(ROOT, 'dist')
  await makePackage(target)
  const executable = await makeExecutable(target, 19)
  console.log(`${relative(process.cwd(), executable)} ${Math.round(statSync(executable).size / 1e6)} MB`)
}
