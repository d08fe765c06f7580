// A chart of some rows as a picture: lines or bars over the values of one column.

import { type Colour, createPicture, type Point, widthOf } from './picture.ts'

export interface Chart {
  readonly kind: 'line' | 'bar'
  readonly title: string
  readonly labels: readonly string[]
  readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[]
}

const [WIDTH, HEIGHT] = [960, 480]
const [LEFT, RIGHT, TOP, BOTTOM] = [110, 24, 64, 60]
const WHITE: Colour = [255, 255, 255]
const INK: Colour = [40, 44, 52]
const SOFT: Colour = [110, 116, 128]
const GRID: Colour = [228, 231, 236]
const COLOURS: readonly Colour[] = [
  [37, 99, 235],
  [234, 88, 12],
  [22, 163, 74],
  [147, 51, 234],
  [220, 38, 38],
  [8, 145, 178],
]
export const MAX_SERIES = COLOURS.length

export function drawChart({ kind, title, labels, series }: Chart): Buffer {
  const picture = createPicture(WIDTH, HEIGHT, WHITE)
  const all = series.flatMap(({ values }) => values.filter((value) => value !== null))
  const ticks = ticksFor(Math.min(0, ...all), Math.max(0, ...all))
  const [low = 0, high = 1] = [ticks[0], ticks.at(-1)]
  const [wide, tall] = [WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM]
  const yOf = (value: number): number => TOP + tall - ((value - low) / (high - low)) * tall
  const step = wide / Math.max(1, labels.length)
  const xOf = (at: number): number => LEFT + step * (at + 0.5)

  picture.text(title.slice(0, 70), LEFT, 16, INK, 2)
  for (const tick of ticks) {
    const y = yOf(tick)
    picture.box(LEFT, y, wide, 1, tick === 0 ? SOFT : GRID)
    const words = shortNumber(tick)
    picture.text(words, LEFT - 10 - widthOf(words, 2), y - 8, SOFT, 2)
  }
  const longest = Math.max(1, ...labels.map((label) => Math.min(label.length, MAX_LABEL)))
  const every = Math.max(1, Math.ceil((longest * 12 + 18) / step))
  for (const [at, label] of labels.entries()) {
    if (at % every !== 0) continue
    const words = label.slice(0, MAX_LABEL)
    picture.text(words, Math.max(0, xOf(at) - widthOf(words, 2) / 2), HEIGHT - BOTTOM + 14, SOFT, 2)
  }
  for (const [number, { values }] of series.entries()) {
    const colour = COLOURS[number % COLOURS.length] ?? INK
    if (kind === 'bar') {
      const bar = Math.max(1, (step * 0.8) / series.length)
      for (const [at, value] of values.entries()) {
        if (value === null) continue
        const [from, to] = [yOf(Math.max(0, value)), yOf(Math.min(0, value))]
        picture.box(
          xOf(at) - (bar * series.length) / 2 + bar * number,
          from,
          Math.max(1, bar - 1),
          Math.max(1, to - from),
          colour,
        )
      }
      continue
    }
    let before: Point | undefined
    for (const [at, value] of values.entries()) {
      if (value === null) {
        before = undefined // a gap
        continue
      }
      const here: Point = [xOf(at), yOf(value)]
      if (before) picture.line(before, here, colour, 3)
      else picture.line(here, here, colour, 5)
      before = here
    }
  }
  if (series.length > 1) {
    let x = LEFT
    for (const [number, { name }] of series.entries()) {
      picture.box(x, 46, 12, 12, COLOURS[number % COLOURS.length] ?? INK)
      const words = name.slice(0, 20)
      picture.text(words, x + 18, 44, SOFT, 2)
      x += 36 + widthOf(words, 2)
    }
  }
  return picture.png()
}

const MAX_LABEL = 12

/** Four to eight round numbers that contain both. */
function ticksFor(low: number, high: number): readonly number[] {
  const span = high - low || 1
  const rough = span / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 2.5, 5, 10].find((one) => one * power >= rough) ?? 10) * power
  const [from, to] = [Math.floor(low / step), Math.ceil((high || low + 1) / step)]
  return Array.from({ length: Math.max(2, to - from + 1) }, (_, at) => Number(((from + at) * step).toPrecision(12)))
}

function shortNumber(value: number): string {
  const size = Math.abs(value)
  for (const [limit, letter] of [
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
    [1e4, 'k'],
  ] as const)
    if (size >= limit) return `${Number((value / (letter === 'k' ? 1e3 : limit)).toPrecision(3))}${letter}`
  return String(Number(value.toPrecision(4)))
}
