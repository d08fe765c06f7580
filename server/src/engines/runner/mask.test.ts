import assert from 'node:assert/strict'
import test from 'node:test'
import { cpuMs } from '../../../../tests/support/cpu-time.ts'
import { createMask, maskValue } from './mask.ts'

test('a secret is hidden in values of any shape, also when it is a number', () => {
  const mask = createMask(['4711', 'sesame'])
  assert.deepEqual(maskValue({ pin: 4711, other: 47, list: ['open sesame', null, true], sesame: { deep: '4711' } }, mask), {
    pin: '[hidden]',
    other: 47,
    list: ['open [hidden]', null, true],
    '[hidden]': { deep: '[hidden]' },
  })
})

const SECRET = 'S3c/r3t+"p&s\\w ö😀\nend'

for (const [name, form] of Object.entries({
  'as it is': SECRET,
  'as JSON': JSON.stringify(SECRET).slice(1, -1),
  'as JSON inside JSON': JSON.stringify(JSON.stringify(SECRET)).slice(3, -3),
  'as JSON in ASCII': 'S3c/r3t+\\"p&s\\\\w \\u00f6\\ud83d\\ude00\\nend',
  'as JSON that escapes slashes': 'S3c\\/r3t+\\"p&s\\\\w \\u00F6\\uD83D\\uDE00\\nend',
  'in a URL': encodeURIComponent(SECRET),
  'in a URL, its slashes left': encodeURIComponent(SECRET).replaceAll('%2F', '/'),
  'in a path of a URL': encodeURI(SECRET),
  'in a URL with small digits': encodeURIComponent(SECRET).replace(/%../g, (code) => code.toLowerCase()),
  'in a form': new URLSearchParams({ a: SECRET }).toString().slice(2),
  'in HTML': SECRET.replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
  'in a literal with single quotes': SECRET.replaceAll('\\', '\\\\').replace('\n', '\\n'),
})) {
  test(`a secret is hidden ${name}`, () => {
    assert.equal(createMask([SECRET, 'other'])(`before ${form} after`), 'before [hidden] after')
  })
}

test('a secret that ends with backslashes is hidden, also when they are doubled', () => {
  const mask = createMask(['C:\\share\\'])
  assert.equal(mask('a C:\\share\\ b'), 'a [hidden] b')
  assert.equal(mask('a C:\\\\share\\\\ b'), 'a [hidden] b')
  assert.equal(mask('a C%3A%5Cshare%5C b'), 'a [hidden] b')
})

test('texts that are nearly secrets are read fast', () => {
  const mask = createMask(['\\"'.repeat(40), `${'\\'.repeat(40)}x`, `${' '.repeat(60)}y`, '%25'.repeat(30)])
  for (const piece of ['\\\\\\"', '\\', ' +%20', '%25']) {
    const read = (length: number) => cpuMs(() => mask(piece.repeat(length / piece.length)))
    assert.ok(read(120_000) < 40 * read(12_000), `${piece} over and over`) // 100 times as long if every place is looked at from every other
  }
})

test('a secret of a hundred kilobytes is hidden, and so is each of its lines', () => {
  const secret = Array.from({ length: 2_000 }, (_, line) => `"line"/${line}: ${'x'.repeat(40)}`).join('\n')
  const mask = createMask([secret])
  for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
    assert.equal(mask(`before ${form} after`), 'before [hidden] after')
  assert.equal(mask(`line: "line"%2f1999: ${'x'.repeat(40)}`), 'line: [hidden]')
})

test('a secret of megabytes is ready at once and hidden, whole and line by line', () => {
  const check = (count: number) => {
    const lines = Array.from({ length: count }, (_, line) => `line ${line} ${'x'.repeat(40)}`)
    const mask = createMask([lines.join('\n')])
    assert.equal(mask(`before ${lines.join('\n')} after`), 'before [hidden] after')
    assert.equal(mask(`first\n  ${lines.at(-5)}\r\nlast`), 'first\n[hidden]\r\nlast')
  }
  assert.ok(cpuMs(() => check(100_000)) < 40 * cpuMs(() => check(10_000)))
})
