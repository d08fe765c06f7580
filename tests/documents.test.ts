// The indexes of the documentation name what is there, and links lead somewhere.

import assert from 'node:assert/strict'
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ComponentDescription } from '../contract/component.ts'
import { PICTURE } from '../server/src/services/stack/guides/markdown-page.ts'
import { ADR_INDEX, adrIndex, decisionRecords } from '../tools/adr-index.ts'
import { CLI_DOCUMENT, cliDocument } from '../tools/cli-doc.ts'
import { COMPONENTS_DOCUMENT, componentsDocument } from '../tools/components-doc.ts'
import { DIAGRAMS, pathOfDiagram } from '../tools/diagrams/diagrams.ts'
import { consoleTexts } from '../tools/pictures/console-texts.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

test('decision records are numbered from 0001 without gaps, and their index is up to date', () => {
  const records = decisionRecords()
  assert.ok(records.length > 0, 'no decision records found')
  assert.deepEqual(
    records.map(({ file, number }) => [file.slice(0, 5), number]),
    records.map((_, index) => String(index + 1).padStart(4, '0')).map((number) => [`${number}-`, number]),
  )
  assert.equal(readFileSync(ADR_INDEX, 'utf8'), adrIndex(), 'run `npm run docs`')
})

test('the diagrams of the guides are those that are described', () => {
  for (const [name, svg] of Object.entries(DIAGRAMS))
    assert.equal(readFileSync(pathOfDiagram(name), 'utf8'), svg, 'run `npm run docs`')
})

const IMAGES = 'docs/images'
const MAX_PICTURE_BYTES = 2.5e6
const guides = (): string[] => ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT })]

test('every picture of the guides exists in both themes and has an alt text, and none is left over', () => {
  const used = guides().flatMap((path) => {
    const text = textOf(path)
    const themed = Array.from(text.matchAll(PICTURE), ([, name]) => join(dirname(path), name!))
    assert.equal(themed.length, text.match(/<img\b/g)?.length ?? 0, `${path}: write pictures as in docs/console.md`)
    const drawn = Array.from(text.matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g), ([, alt, target]) => {
      assert.ok(alt, `${path}: ${target} has no alt text`)
      return join(dirname(path), target!)
    })
    return [...themed.flatMap((name) => [`${name}-dark.webp`, `${name}-light.webp`]), ...drawn]
  })
  const files = readdirSync(join(ROOT, IMAGES)).map((name) => `${IMAGES}/${name}`)
  assert.deepEqual([...new Set(used)].sort(), files.sort(), 'run `npm run pictures`, or remove what no guide shows')
  const bytes = files.reduce((sum, path) => sum + statSync(join(ROOT, path)).size, 0)
  assert.ok(bytes < MAX_PICTURE_BYTES, `${bytes} bytes of pictures, which every package contains`)
})

test('pictures show the console as it is: every heading and label on them is still in its sources', () => {
  const shown = JSON.parse(textOf('tools/pictures/labels.json')) as Readonly<Record<string, readonly string[]>> // written by tools/pictures
  const names = readdirSync(join(ROOT, IMAGES)).filter((name) => name.endsWith('-light.webp'))
  assert.deepEqual(
    Object.keys(shown)
      .map((name) => `console-${name}-light.webp`)
      .sort(),
    names.sort(),
  )
  const texts = consoleTexts()
  const gone = Object.entries(shown).flatMap(([picture, labels]) =>
    labels.filter((label) => !texts.has(label)).map((label) => `${picture}: ${label}`),
  )
  assert.deepEqual(gone, [], 'these screens have changed: run `npm run pictures`')
  for (const [picture, labels] of Object.entries(shown))
    assert.ok(labels.length > 10, `${picture} has only ${labels.length} labels`)
})

test('a superseded decision names a later record that still holds', () => {
  const records = decisionRecords()
  const superseded = records.filter(({ status }) => status !== 'Accepted')
  assert.ok(superseded.length > 2, 'the search for superseded records is broken')
  const wrong = superseded.filter(({ status, number }) => {
    const successor = records.find((record) => record.number === status.slice(-4))
    return successor === undefined || successor.number <= number || successor.status.startsWith('Superseded by')
  })
  assert.deepEqual(wrong, [])
})

test('every decision record states its context and the choice', () => {
  const incomplete = decisionRecords().filter(({ file }) => {
    const text = textOf(`docs/adr/${file}`)
    return !text.includes('**Context.**') || !text.includes('**Choice.**')
  })
  assert.deepEqual(incomplete, [])
})

test('the index of the documentation names every document', () => {
  const index = textOf('docs/README.md')
  const documents = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md')
  assert.ok(documents.length > 5, 'the search for documents is broken')
  assert.deepEqual(
    documents.filter((name) => !index.includes(`](${name})`)),
    [],
  )
})

/** A page begins with what its reader can do: a verb, or "you". */
const NO_TASK = /^(?:an?|the|this|that|these|every|each|all|some|what|which|it|there|programs?|`)/i

test('every guide says in its first sentence what the reader can do', () => {
  const wrong = globSync('docs/{*,agents/*}.md', { cwd: ROOT }).flatMap((path) => {
    const [, first = ''] = /^# .+\n\n(.+)/m.exec(textOf(path)) ?? []
    return first === '' || NO_TASK.test(first) ? [`${path}: ${first.slice(0, 80)}`] : []
  })
  assert.deepEqual(wrong, [])
})

test('the command line reference and the list of components are those of the program', () => {
  assert.equal(readFileSync(CLI_DOCUMENT, 'utf8'), cliDocument(), 'run `npm run docs`')
  assert.equal(readFileSync(COMPONENTS_DOCUMENT, 'utf8'), componentsDocument(), 'run `npm run docs`')
})

test('every change in the changelog stands below the heading of what a user does', () => {
  const versions = textOf('CHANGELOG.md').split(/^## /m).slice(1)
  const [pending = ''] = versions[0]?.split(/^### /m) ?? []
  assert.equal(pending.trim(), 'Pending', 'these lines belong below one of the headings')
  const groups = versions.flatMap((version) => version.split(/^### /m).slice(1))
  const sizes = groups.map((group) => [group.split('\n')[0], group.match(/^- /gm)?.length ?? 0] as const)
  assert.ok(sizes.length > 0, 'the changelog was not read')
  assert.deepEqual(
    sizes.filter(([, size]) => size === 0),
    [],
  )
})

test('every relative link of a document leads to a file', () => {
  const documents = globSync('**/*.md', {
    cwd: ROOT,
    exclude: (path) => ['node_modules', 'data', 'dist'].includes(basename(path)),
  })
  const links = documents.flatMap((path) =>
    [...textOf(path).matchAll(/\]\((?!https?:|#|mailto:)([^)\s#]+)[^)]*\)/g)].map(([, target]) => ({ path, target: target! })),
  )
  assert.ok(links.length > 20, 'the search for links is broken')
  assert.deepEqual(
    links.filter(({ path, target }) => !existsSync(join(ROOT, dirname(path), target))),
    [],
  )
})

/** `x.routes.ts` and the like stand for the files of any module. */
const ANY_MODULE = /^(?:x|NNNN-name)\.|\/NNNN-name\./

test('source files that documents and comments name exist', () => {
  const exclude = (path: string) => ['node_modules', 'dist', 'data', 'fixtures'].includes(basename(path))
  const files = globSync('**/*.{ts,tsx,mjs,md}', { cwd: ROOT, exclude }).map((path) => path.replaceAll('\\', '/'))
  const ends = new Set(files.flatMap((path) => path.split('/').map((_, index, parts) => parts.slice(index).join('/'))))
  const named = files.flatMap((path) => {
    if (path.includes('/migrations/')) return [] // never changed after a release
    const text = textOf(path)
    const found = path.endsWith('.md')
      ? text.matchAll(/`([\w./-]+\.(?:ts|tsx|mjs))`/g)
      : Array.from(text.matchAll(/(?:^|\s)\/\/ .*|\/\*.*|^\s*\* .*/gm), ([comment]) =>
          Array.from(comment.matchAll(/(?<![\w/.:@*-])([\w-]+(?:\/[\w.-]+)*\.(?:ts|tsx|mjs|md))\b/g)),
        ).flat()
    return Array.from(found, ([, name]) => ({ path, name: name!.replace(/^\.\//, '') }))
  })
  assert.ok(named.length > 300, `only ${named.length} names found: the search is broken`)
  assert.deepEqual(
    named.filter(({ name }) => !ends.has(name) && !ANY_MODULE.test(name)),
    [],
  )
})

interface TreeFolder {
  readonly path: string
  readonly children: TreeFolder[]
}

/** The tree in ARCHITECTURE.md: a line names one folder and its purpose, or several folders of one parent. */
function treeOfArchitecture(): TreeFolder {
  const [, block = ''] = /^```\n(.*?)^```/ms.exec(textOf('ARCHITECTURE.md')) ?? []
  const root: TreeFolder = { path: '', children: [] }
  const open: { readonly depth: number; readonly folder: TreeFolder }[] = [{ depth: -1, folder: root }]
  for (const line of block.trimEnd().split('\n')) {
    const depth = line.search(/\S/)
    const names = line
      .trim()
      .split(/\s{2,}/)[0]!
      .split(' ')
    while (open.at(-1)!.depth >= depth) open.pop()
    const parent = open.at(-1)!.folder
    const folders = names.filter((name) => name.endsWith('/')).map((name) => ({ path: join(parent.path, name), children: [] }))
    parent.children.push(...folders)
    if (folders.length === 1) open.push({ depth, folder: folders[0]! })
  }
  return root
}

const NOT_OURS = new Set(['node_modules', 'dist', 'data'])
const foldersIn = (path: string): string[] =>
  readdirSync(join(ROOT, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !NOT_OURS.has(entry.name))
    .map(({ name }) => join(path, name, '/'))
/** A folder that only groups modules: no program file of its own. */
const isGroup = (path: string): boolean =>
  path.startsWith('server/src/') && !readdirSync(join(ROOT, path)).some((name) => name.endsWith('.ts'))

/** Folders that the tree has to name below one of its folders. It may leave out the name of a group and list what is in it. */
const expectedBelow = (path: string, named: ReadonlySet<string>): string[] =>
  foldersIn(path).flatMap((folder) => (isGroup(folder) && !named.has(folder) ? expectedBelow(folder, named) : [folder]))

test('the tree in ARCHITECTURE.md names every folder that exists, and no other', () => {
  const compare = ({ path, children }: TreeFolder): void => {
    if (children.length === 0) return
    const named = new Set(children.map((child) => child.path))
    const expected = expectedBelow(path, named).map((folder) => (folder === 'server/' ? 'server/src/' : folder))
    // By name: a group that the tree leaves out is part of the path of its modules.
    const names = (folders: readonly string[]) => folders.map((folder) => `${path}: ${basename(folder)}`).toSorted()
    assert.deepEqual(names([...named]), names(expected))
    children.forEach(compare)
  }
  const tree = treeOfArchitecture()
  assert.ok(tree.children.length > 5, 'the tree was not read')
  compare(tree)
})

test('program files that READMEs and decision records name exist, in the folder that they name', () => {
  const options = { cwd: ROOT, exclude: (path: string) => ['node_modules', 'data', 'dist'].includes(basename(path)) }
  const files = globSync('**/*.{ts,tsx,mjs}', options).map((path) => path.replaceAll('\\', '/'))
  const known = new Set(files.flatMap((path) => [basename(path), path.split('/').slice(-2).join('/')]))
  const documents = globSync(['{server,components,cli}/**/README.md', 'docs/adr/0*.md', 'docs/performance.md'], options)
  const named = documents.flatMap((path) =>
    [...textOf(path).matchAll(/(?<![\w.*-])((?:[\w.-]+\/)*[\w-][\w.-]*\.(?:tsx?|mjs))\b/g)].map(([, name]) => ({
      path,
      name: name!,
    })),
  )
  assert.ok(named.length > 50, `only ${named.length} names found: the search is broken`)
  assert.deepEqual(
    named.filter(({ name }) => !known.has(name.split('/').slice(-2).join('/')) && basename(name) !== 'NNNN-name.ts'),
    [],
  )
})

test('the glossary is sorted and defines every word once', () => {
  const words = [...textOf('docs/glossary.md').matchAll(/^\| (?!word \|)([\w ]+) \|/gm)].map(([, word]) => word!)
  assert.ok(words.length > 30, 'the glossary was not read')
  assert.deepEqual(words, [...new Set(words)].sort())
})

test('docs/component-description.md lists every field of a description, and no other', () => {
  const [, section = ''] = /^## The description\n(.*?)^## /ms.exec(textOf('docs/component-description.md')) ?? []
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  const listed = rows.flatMap((row) => Array.from((row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g), ([, name]) => name!))
  assert.deepEqual(listed.toSorted(), fieldsOf(ComponentDescription).toSorted())
})

const fieldsOf = (schema: object, above = ''): string[] => {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, object>> } // JSON schema
  return Object.entries(properties).flatMap(([name, inner]) => [above + name, ...fieldsOf(inner, `${above}${name}.`)])
}

const shellBlocks = (path: string): string[] => Array.from(textOf(path).matchAll(/^```sh\n(.*?)^```$/gms), ([, block]) => block!)

test('pages with commands begin with the setup of docs/shell.md, and no wait is without an end', () => {
  const [setup = ''] = shellBlocks('docs/shell.md')
  assert.ok(setup.includes('wait_for()'), 'the setup was not found')
  const pages = ['README.md', ...globSync('docs/{*,agents/*}.md', { cwd: ROOT })].filter((path) => shellBlocks(path).length > 0)
  assert.ok(pages.length > 10, `only ${pages.length} pages have commands`)
  assert.deepEqual(
    pages.filter((path) => shellBlocks(path)[0] !== setup),
    [],
  )
  const blocks = pages.flatMap((path) => shellBlocks(path).map((block) => ({ path, block })))
  const wrong = blocks.filter(({ block }) => /\b(?:until|while)\b.*\bdo\b|\$(?:TOKEN|URL|MANAGE_TOKEN)\b|\bnpx\b/.test(block))
  assert.deepEqual(wrong, [], 'use wait_for, MILLRACE_TOKEN, MILLRACE_URL and millrace')
})
