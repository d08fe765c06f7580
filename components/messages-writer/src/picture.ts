// A picture of few colours: lines, boxes and texts, written as PNG.

import { crc32, deflateSync } from 'node:zlib'

export type Point = readonly [number, number]
export type Colour = readonly [number, number, number]

/** Letters of five columns and eight rows, from the space to the tilde; the lowest bit is the top. */
const FONT = Buffer.from(
  [
    '000000000000005f00000007000700147f147f14242a7f2a12231308646236495620500008070300001c2241000041221c002a1c7f1c2a08083e0808',
    '00807030000808080808000060600020100804023e5149453e00427f400072494949462141494d331814127f1027454545393c4a4949314121110907',
    '3649494936464949291e0000140000004034000000081422411414141414004122140802015909063e415d594e7c1211127c7f494949363e41414122',
    '7f4141413e7f494949417f090909013e414151737f0808087f00417f41002040413f017f081422417f404040407f021c027f7f0408107f3e4141413e',
    '7f090909063e4151215e7f09192946264949493203017f01033f4040403f1f2040201f3f4038403f631408146303047804036159494d43007f414141',
    '0204081020004141417f04020102044040404040000307080020545478407f284444383844444428384444287f385454541800087e090218a4a49c78',
    '7f0804047800447d40002040403d007f1028440000417f40007c047804787c080404783844444438fc1824241818242418fc7c080404084854545424',
    '04043f44243c4040207c1c2040201c3c4030403c44281028444c9090907c4464544c440008364100000077000000413608000201020402',
  ].join(''),
  'hex',
)

export function createPicture(width: number, height: number, background: Colour) {
  const pixels = new Uint8Array(width * height * 3)
  for (let at = 0; at < pixels.length; at++) pixels[at] = background[at % 3] ?? 0

  /** `cover`: how much of the pixel is painted, from 0 to 1. */
  function paint(x: number, y: number, colour: Colour, cover = 1): void {
    if (x < 0 || y < 0 || x >= width || y >= height || cover <= 0) return
    const at = (y * width + x) * 3
    for (let part = 0; part < 3; part++) {
      const before = pixels[at + part] ?? 0
      pixels[at + part] = Math.round(before + ((colour[part] ?? 0) - before) * Math.min(1, cover))
    }
  }

  function box(x: number, y: number, wide: number, high: number, colour: Colour): void {
    for (let row = Math.round(y); row < Math.round(y + high); row++)
      for (let column = Math.round(x); column < Math.round(x + wide); column++) paint(column, row, colour)
  }

  function line([x1, y1]: Point, [x2, y2]: Point, colour: Colour, thick: number): void {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1
    const [left, right] = [Math.floor(Math.min(x1, x2) - thick), Math.ceil(Math.max(x1, x2) + thick)]
    for (let x = left; x <= right; x++) {
      // Only rows near the line, so that a long one costs no more than its length.
      const share = x2 === x1 ? undefined : Math.max(0, Math.min(1, (x - x1) / (x2 - x1)))
      const slope = x2 === x1 ? 0 : Math.abs((y2 - y1) / (x2 - x1))
      const middle = share === undefined ? undefined : y1 + (y2 - y1) * share
      const reach = thick * (1 + slope) + 1
      const from = middle === undefined ? Math.min(y1, y2) - thick : Math.max(Math.min(y1, y2) - thick, middle - reach)
      const to = middle === undefined ? Math.max(y1, y2) + thick : Math.min(Math.max(y1, y2) + thick, middle + reach)
      for (let y = Math.floor(from); y <= Math.ceil(to); y++) {
        const along = Math.max(0, Math.min(1, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / (length * length)))
        const distance = Math.hypot(x - x1 - along * (x2 - x1), y - y1 - along * (y2 - y1))
        paint(x, y, colour, Math.round((thick / 2 + 0.5 - distance) * 4) / 4) // few shades, so that the file stays small
      }
    }
  }

  /** Letters that the font lacks lose their accents, or become a question mark. */
  function text(words: string, x: number, y: number, colour: Colour, scale: number): void {
    let left = Math.round(x)
    for (const letter of plainLetters(words)) {
      const code = letter.charCodeAt(0) - 32
      for (let column = 0; column < 5; column++) {
        const bits = FONT[code * 5 + column] ?? 0
        for (let row = 0; row < 8; row++)
          if ((bits >> row) & 1) box(left + column * scale, Math.round(y) + row * scale, scale, scale, colour)
      }
      left += 6 * scale
    }
  }

  function png(): Buffer {
    const line = width * 3
    // As they are, or each byte as the difference to the one above: which is smaller depends on the picture.
    const packed = ([0, 2] as const).map((filter) => {
      const rows = Buffer.alloc((line + 1) * height)
      for (let y = 0; y < height; y++) {
        rows[y * (line + 1)] = filter
        for (let at = 0; at < line; at++)
          rows[y * (line + 1) + 1 + at] =
            (pixels[y * line + at] ?? 0) - (filter === 0 || y === 0 ? 0 : (pixels[(y - 1) * line + at] ?? 0))
      }
      return deflateSync(rows, { level: 9 })
    })
    const [smallest = Buffer.alloc(0)] = packed.toSorted((a, b) => a.length - b.length)
    const head = Buffer.alloc(13)
    head.writeUInt32BE(width, 0)
    head.writeUInt32BE(height, 4)
    head.set([8, 2, 0, 0, 0], 8) // eight bits, red green blue
    return Buffer.concat([SIGNATURE, chunk('IHDR', head), chunk('IDAT', smallest), chunk('IEND', Buffer.alloc(0))])
  }

  return { box, line, text, png }
}

export const widthOf = (words: string, scale: number): number => plainLetters(words).length * 6 * scale

const plainLetters = (words: string): string =>
  words
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^ -~]/gu, '?')

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const ends = Buffer.alloc(8)
  ends.writeUInt32BE(data.length, 0)
  ends.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)])
}
