import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { commitOf, isNewerVersion } from './version.ts'

const FIRST = 'a1'.repeat(20)
const SECOND = 'b2'.repeat(20)

function folder(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'millrace-version-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

test('the commit of an image, a clone, a worktree and a folder without git', (t) => {
  const head = { '.git/HEAD': 'ref: refs/heads/main\n' }
  const worktree = folder(t, {
    'clone/.git/worktrees/w/HEAD': 'ref: refs/heads/w\n',
    'clone/.git/worktrees/w/commondir': '../..\n',
    'clone/.git/refs/heads/w': `${SECOND}\n`,
  })
  mkdirSync(join(worktree, 'w'))
  writeFileSync(join(worktree, 'w', '.git'), `gitdir: ${join(worktree, 'clone/.git/worktrees/w')}\n`)
  const cases: [string, string | undefined][] = [
    [folder(t, { ...head, '.git/refs/heads/main': `${FIRST}\n` }), FIRST],
    [
      folder(t, { ...head, '.git/packed-refs': `# pack-refs\n${SECOND} refs/heads/other-main\n${FIRST} refs/heads/main\n` }),
      FIRST,
    ],
    [folder(t, { '.git/HEAD': `${SECOND}\n` }), SECOND],
    [join(worktree, 'w'), SECOND],
    [folder(t, { commit: FIRST, '.git/HEAD': `${SECOND}\n` }), FIRST],
    [folder(t, { commit: '' }), undefined],
    [folder(t, {}), undefined],
    [folder(t, head), undefined],
    [folder(t, { '.git/HEAD': 'damaged' }), undefined],
  ]
  for (const [root, commit] of cases) assert.equal(commitOf(root), commit?.slice(0, 12))
})

test('versions are compared by their numbers', () => {
  const newer: [string, string][] = [
    ['0.3.0', '0.2.9'],
    ['0.10.0', '0.9.0'],
    ['1.0.0', '0.99.99'],
    ['0.2.1-rc.1', '0.2.0+1a2b3c'],
  ]
  for (const [one, other] of newer) assert.deepEqual([isNewerVersion(one, other), isNewerVersion(other, one)], [true, false])
  assert.equal(isNewerVersion('0.2.0', '0.2.0+1a2b3c'), false)
})
