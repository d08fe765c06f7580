// Texts of SQL that are as long as allowed and as tiresome as possible to read.

export const HOSTILE_SQL: Readonly<Record<string, (bytes: number) => string>> = {
  'many columns': (bytes) => filled(bytes, 'select 1 as a0', (i) => `, 1 as a${i}`),
  'many brackets': (bytes) => `select ${'('.repeat((bytes - 8) / 2)}1${')'.repeat((bytes - 8) / 2)}`,
  'open brackets': (bytes) => `select ${'('.repeat(bytes - 7)}`,
  'many calls': (bytes) => filled(bytes, 'select 1', () => ', abcd(1)'),
  'nested calls': (bytes) => filled(bytes, 'select ', () => 'f('),
  'words before a bracket': (bytes) => `${filled(bytes - 1, 'select ', () => 'a ')}(`,
  'foreign characters': (bytes) => filled(bytes, 'select a', () => '😀'),
  'foreign words': (bytes) => filled(bytes, 'select ', () => 'ž漢 '),
  'many strings': (bytes) => filled(bytes, `select ''`, () => `,'a'`),
  'doubled quotes': (bytes) => `select '${`''`.repeat((bytes - 10) / 2)}'`,
  'an open string of doubled quotes': (bytes) => `select '${`''`.repeat((bytes - 10) / 2)}`,
  'open escapes': (bytes) => filled(bytes, 'select ', () => `e'\\' `),
  'quoted names': (bytes) => filled(bytes, 'select "a"', () => ',""""'),
  'many comments': (bytes) => filled(bytes, 'select 1', () => '/**/'),
  'short comments': (bytes) => filled(bytes, 'select 1', () => '--\n'),
  'only spaces': (bytes) => `select 1${' '.repeat(bytes - 8)}`,
  'many statements': (bytes) => filled(bytes, 'a', () => ';a'),
  'empty statements': (bytes) => `select 1${';'.repeat(bytes - 8)}`,
  'many WITH': (bytes) => `${filled(bytes - 20, 'with c0 as (select 1)', (i) => `, c${i} as (select 1)`)} select 1`,
  'many joins': (bytes) => filled(bytes, 'select 1 from t0', (i) => ` join t${i} on 1`),
  'dollar quotes': (bytes) => filled(bytes, 'select $$$$', () => ',$a$$a$'),
  'open dollar quotes': (bytes) => filled(bytes, 'select ', () => '$a '),
  'a long name': (bytes) => `select ${'a'.repeat(bytes - 7)}`,
  'nested lists': (bytes) => `select ${'['.repeat((bytes - 8) / 2)}1${']'.repeat((bytes - 8) / 2)}`,
  'a list': (bytes) => filled(bytes, 'select [1', () => ',1'),
  casts: (bytes) => filled(bytes, 'select 1', () => '::int'),
  parameters: (bytes) => filled(bytes, 'select $1', () => ',$1'),
  'tables of the project': (bytes) => filled(bytes, 'select 1 from "in.c-a".t', () => ',"in.c-a".t'),
  numbers: (bytes) => filled(bytes, 'select 1', () => '+1e1'),
  dots: (bytes) => filled(bytes, 'select a', () => '.a'),
  values: (bytes) => filled(bytes, 'insert into t values (1)', () => ',(1)'),
}

/** Every fourth of them, unless all are requested. */
export const hostileSql = (all: boolean): [name: string, make: (bytes: number) => string][] =>
  Object.entries(HOSTILE_SQL).filter((_, i) => all || i % 4 === 0)

function filled(bytes: number, head: string, next: (i: number) => string): string {
  const parts = [head]
  let length = head.length
  for (let i = 1; ; i++) {
    const part = next(i)
    length += Buffer.byteLength(part)
    if (length > bytes) return parts.join('')
    parts.push(part)
  }
}
