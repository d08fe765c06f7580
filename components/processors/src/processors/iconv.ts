import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Folder } from '../folder.ts'
import { choice, readParameters, text } from '../parameters.ts'
import { rewriteFiles } from './rewrite-files.ts'

type OnError = 'fail' | 'transliterate' | 'ignore'
type Encode = (text: string, path: string) => Buffer | string

/** Brings every file from one encoding to another. */
export async function iconv(folder: Folder): Promise<void> {
  const { source_encoding, target_encoding, on_error } = readParameters(folder.parameters, {
    source_encoding: text(),
    target_encoding: text('UTF-8'),
    on_error: choice(['fail', 'transliterate', 'ignore'], 'fail'),
  })
  const encode = encoderOf(target_encoding, on_error)
  await rewriteFiles(folder, async function* (chunks, path) {
    const decoder = decoderOf(source_encoding, on_error === 'fail')
    const decode = (chunk?: Buffer): string => {
      try {
        const decoded = chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
        return on_error === 'ignore' ? decoded.replaceAll('\uFFFD', '') : decoded
      } catch {
        throw new UserError(
          `The file ${path} is not valid ${source_encoding}. Set on_error to ignore or transliterate to continue.`,
        )
      }
    }
    for await (const chunk of chunks) yield encode(decode(chunk), path)
    yield encode(decode(), path)
  })
}

/** The names that iconv has and the web standard lacks. */
const WEB_NAMES: Readonly<Record<string, string>> = {
  CP1250: 'windows-1250',
  CP1251: 'windows-1251',
  CP1252: 'windows-1252',
  CP1254: 'windows-1254',
}

function decoderOf(encoding: string, fatal: boolean): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(WEB_NAMES[encoding.toUpperCase()] ?? encoding, { fatal })
  } catch {
    throw new UserError(`The encoding "${encoding}" is not known.`)
  }
}

function encoderOf(encoding: string, onError: OnError): Encode {
  const name = decoderOf(encoding, false).encoding
  if (name === 'utf-8') return (decoded) => decoded
  if (name === 'utf-16le') return (decoded) => Buffer.from(decoded, 'utf16le')
  const bytes = singleByteTable(encoding)
  return (decoded, path) => {
    const out: number[] = []
    for (const character of decoded) {
      const byte = bytes.get(character)
      if (byte !== undefined) out.push(byte)
      else if (onError === 'fail') {
        throw new UserError(
          `The file ${path} has the character "${character}", which ${encoding} cannot write. Set on_error to transliterate or ignore.`,
        )
      } else if (onError === 'transliterate') for (const base of plainForm(character)) out.push(bytes.get(base) ?? 0x3f)
    }
    return Buffer.from(out)
  }
}

/** `é` as `e`; what has no plain form becomes a question mark. */
const plainForm = (character: string): string => character.normalize('NFKD').replace(/\p{M}/gu, '') || '?'

/** On the web these names mean windows-1252, which has more characters. */
const OWN_TABLES: Readonly<Record<string, number>> = { ASCII: 128, 'US-ASCII': 128, 'ISO-8859-1': 256, LATIN1: 256 }

function singleByteTable(encoding: string): Map<string, number> {
  const own = OWN_TABLES[encoding.toUpperCase()]
  if (own !== undefined) return new Map(Array.from({ length: own }, (_, byte) => [String.fromCharCode(byte), byte]))
  const decoder = decoderOf(encoding, false)
  const table = new Map<string, number>()
  for (let byte = 255; byte >= 0; byte--) {
    const character = decoder.decode(Uint8Array.of(byte))
    if (character.length === 1 && character !== '\uFFFD') table.set(character, byte)
  }
  if (table.size < 200)
    throw new UserError(`The encoding "${encoding}" cannot be written; possible are UTF-8, UTF-16LE and encodings of one byte.`)
  return table
}
