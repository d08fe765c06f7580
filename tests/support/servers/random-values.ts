// Random values of the types that databases have, each as the text that the database reads.

import { chance } from '../chance.ts'

export const upTo = (number: number) => Math.floor(chance() * number)
export const oneOf = <T>(list: readonly T[]): T => list[upTo(list.length)]!
export const digits = (count: number) => Array.from({ length: count }, () => upTo(10)).join('')
export const signed = (text: string) => `${oneOf(['', '-'])}${text}`
export const anyText = () => Array.from({ length: upTo(12) }, () => oneOf([...'aZ0 "\'\\,;\n\r\t\u0001éž漢😀N%_'])).join('')
const pad = (number: number, width = 2) => String(number).padStart(width, '0')
const anyDay = () => `${pad(1 + upTo(9999), 4)}-${pad(1 + upTo(12))}-${pad(1 + upTo(28))}`
const anyTime = () => `${pad(upTo(24))}:${pad(upTo(60))}:${pad(upTo(60))}.${digits(6)}`
export const anyFloat = () =>
  signed(
    oneOf([
      '0',
      '1e15',
      '1e16',
      '123456.789',
      '5e-324',
      '1.7976931348623157e308',
      '9007199254740993',
      `${digits(1)}.${digits(17)}e${upTo(200) - 100}`,
      'NaN',
      'Infinity',
    ]),
  )
export const anyHex = () => Buffer.from(Array.from({ length: upTo(9) }, () => upTo(256))).toString('hex')

/** Values that the type can hold; each is written as a text. */
export const POSTGRESQL_VALUES: Readonly<Record<string, () => string>> = {
  ...{ smallint: () => signed(String(upTo(32_768))), int: () => signed(String(upTo(2 ** 31))), bigint: () => signed(digits(18)) },
  ...{ 'numeric(38,9)': () => signed(`${digits(29)}.${digits(9)}`), 'numeric(5,5)': () => signed(`0.${digits(5)}`) },
  ...{
    numeric: () => signed(`${digits(1 + upTo(60))}.${digits(upTo(40))}0`),
    'numeric(60,20)': () => `${digits(40)}.${digits(20)}`,
  },
  ...{ 'numeric(6,-2)': () => signed(digits(8)), real: () => signed(`${digits(3)}.${digits(6)}`) },
  ...{ 'double precision': anyFloat, boolean: () => oneOf(['t', 'f']), date: anyDay, time: anyTime },
  ...{ timestamp: () => `${anyDay()} ${anyTime()}`, 'timestamp(2)': () => `${anyDay()} ${anyTime()}` },
  timestamptz: () => `${anyDay()} ${anyTime()}${oneOf(['Z', '+05:30', '-11'])}`.replace(/^(0001|9999)/, '2026'),
  ...{ timetz: () => `${anyTime()}+02`, interval: () => `${upTo(99)} mon ${upTo(99)} day ${anyTime()}`, text: anyText },
  ...{
    'varchar(30)': anyText,
    'char(20)': anyText,
    bytea: () => `\\x${anyHex()}`,
    uuid: () => digits(32),
    'bit(5)': () => oneOf(['01010', '11111']),
  },
  ...{
    varbit: () => oneOf(['', '1', '010']),
    money: () => signed(`${digits(6)}.${digits(2)}`),
    inet: () => `10.0.0.${upTo(256)}/${24 + upTo(9)}`,
  },
  ...{
    json: () => `{"a":  [1${digits(30)}, ${JSON.stringify(anyText().replaceAll('\u0001', ''))}]}`,
    jsonb: () => `{"b": 1${digits(5)}.50}`,
  },
  ...{
    'int[]': () => `{${upTo(9)},NULL,${upTo(99)}}`,
    'text[]': () => '{"a,b","",NULL}',
    int4range: () => '[1,5)',
    xml: () => '<a>b</a>',
  },
  ...{
    point: () => `(${digits(2)},1.5)`,
    cidr: () => '10.0.0.0/8',
    macaddr: () => '08:00:2b:01:02:03',
    tsvector: () => "'a':1 'b':2",
  },
}

/** Bytes are hexadecimal digits. */
export const MARIADB_VALUES: Readonly<Record<string, () => string>> = {
  ...{ tinyint: () => signed(String(upTo(128))), 'tinyint(1)': () => String(upTo(2)), int: () => signed(String(upTo(2 ** 31))) },
  ...{ bigint: () => signed(digits(18)), 'bigint unsigned': () => `1${digits(18)}`, 'int(8) zerofill': () => String(upTo(9999)) },
  ...{ 'decimal(38,9)': () => signed(`${digits(29)}.${digits(9)}`), 'decimal(65,20)': () => `${digits(45)}.${digits(20)}` },
  ...{ 'decimal(5,5)': () => signed(`0.${digits(5)}`), float: () => signed(`${digits(3)}.${digits(6)}`) },
  double: () => anyFloat().replace(/-?(NaN|Infinity)/, '0.25'),
  ...{ date: anyDay, 'datetime(6)': () => `${anyDay()} ${anyTime()}`, datetime: () => `${anyDay()} ${anyTime().slice(0, 8)}` },
  ...{ 'timestamp(3) null': () => `20${pad(upTo(30))}-01-15 ${anyTime().slice(0, 12)}`, 'time(6)': anyTime, year: () => '2026' },
  ...{ text: anyText, 'varchar(30)': anyText, 'char(20)': () => anyText().trimEnd(), longtext: anyText },
  ...{ 'varbinary(10)': anyHex, blob: anyHex, 'bit(9)': () => oneOf(['0101', '0001']) },
  ...{
    json: () => `{"a": [1${digits(5)}, null]}`,
    "enum('a','b')": () => oneOf(['a', 'b']),
    "set('x','y')": () => oneOf(['x', 'x,y', '']),
  },
  point: () => `POINT(${upTo(90)} ${upTo(90)})`,
}
