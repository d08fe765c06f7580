// Diagrams of the guides as SVG: boxes on a grid with arrows, and messages between columns. Light and dark as the reader's system is; the
// background is part of the picture, so it can be read on any page.

export interface Box {
  readonly id: string
  /** Lines of text. */
  readonly text: readonly string[]
  /** In columns and rows; halves are allowed. */
  readonly at: readonly [number, number]
  readonly kind?: 'store' | 'end'
}

export interface Arrow {
  readonly from: string
  readonly to: string
  readonly text?: string
  readonly isDashed?: boolean
  /** Moves a bent line away from the straight one, in pixels. */
  readonly bend?: number
}

export interface Frame {
  readonly text: string
  readonly from: readonly [number, number]
  readonly to: readonly [number, number]
}

export interface BoxDiagram {
  readonly title: string
  readonly columns: number
  readonly rows: number
  readonly boxes: readonly Box[]
  readonly arrows: readonly Arrow[]
  readonly frames?: readonly Frame[]
}

export interface Message {
  readonly from: number
  readonly to: number
  readonly text: string
  readonly isAnswer?: boolean
}

export interface MessageDiagram {
  readonly title: string
  readonly columns: readonly string[]
  readonly messages: readonly Message[]
}

const CELL = { width: 190, height: 96 }
const BOX = { width: 142, height: 50 }
const MARGIN = 16
const STYLE = `
  .page { fill: #fff } .box { fill: #f4f6f8; stroke: #57606a } .store { fill: #e8f1fb; stroke: #2f6fb0 } .end { fill: #e9f6ec; stroke: #2c7a43 }
  .frame { fill: none; stroke: #b4bcc5; stroke-dasharray: 4 3 } .line { fill: none; stroke: #57606a; stroke-width: 1.3 } .dashed { stroke-dasharray: 5 4 }
  text { font: 13px system-ui, sans-serif; fill: #1f2328; text-anchor: middle } .note { font-size: 12px; fill: #57606a } .halo { stroke: #fff; stroke-width: 4; paint-order: stroke }
  marker path { fill: #57606a }
  @media (prefers-color-scheme: dark) {
    .page { fill: #15181c } .box { fill: #22272e; stroke: #8b949e } .store { fill: #18293b; stroke: #5b9bd8 } .end { fill: #17301f; stroke: #57a86f }
    .frame { stroke: #4b535c } .line { stroke: #9aa4ae } text { fill: #e6e9ec } .note { fill: #a9b2bb } .halo { stroke: #15181c } marker path { fill: #9aa4ae }
  }`

export function drawBoxes({ title, columns, rows, boxes, arrows, frames = [] }: BoxDiagram): string {
  const byId = new Map(boxes.map((box) => [box.id, box]))
  const boxOf = (id: string): Box => {
    const box = byId.get(id)
    if (!box) throw new Error(`The diagram "${title}" has no box "${id}".`)
    return box
  }
  return page(title, columns * CELL.width + 2 * MARGIN, rows * CELL.height + 2 * MARGIN, [
    ...frames.map(frame),
    ...arrows.map((one) => arrow(one, centreOf(boxOf(one.from).at), centreOf(boxOf(one.to).at))),
    ...boxes.map(box),
  ])
}

export function drawMessages({ title, columns, messages }: MessageDiagram): string {
  const step = 40
  const top = MARGIN + BOX.height
  const height = top + (messages.length + 1) * step
  const xOf = (column: number) => MARGIN + (column + 0.5) * 168
  const heads = columns.map((name, i) => {
    const x = xOf(i)
    return `<line class="frame" x1="${x}" y1="${top}" x2="${x}" y2="${height}"/>${rectangle(x, MARGIN + BOX.height / 2, 'box')}${label([name], x, MARGIN + BOX.height / 2)}`
  })
  const lines = messages.map(({ from, to, text, isAnswer }, i) => {
    const y = top + (i + 1) * step
    const [x1, x2] = [xOf(from), xOf(to)]
    const middle = (x1 + x2) / 2
    return `<path class="line${isAnswer ? ' dashed' : ''}" marker-end="url(#tip)" d="M${x1} ${y} L${x2 - Math.sign(x2 - x1) * 3} ${y}"/><text class="note halo" x="${middle}" y="${y - 7}">${escapeXml(text)}</text>`
  })
  return page(title, columns.length * 168 + 2 * MARGIN, height + MARGIN, [...heads, ...lines])
}

type Point = readonly [number, number]

const centreOf = ([column, row]: Point): Point => [MARGIN + (column + 0.5) * CELL.width, MARGIN + (row + 0.5) * CELL.height]

const page = (title: string, width: number, height: number, parts: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escapeXml(title)}</title>
<style>${STYLE}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>
<rect class="page" width="${width}" height="${height}" rx="8"/>
${parts.join('\n')}
</svg>
`

const rectangle = (x: number, y: number, kind: string): string =>
  `<rect class="${kind}" x="${x - BOX.width / 2}" y="${y - BOX.height / 2}" width="${BOX.width}" height="${BOX.height}" rx="${kind === 'box' ? 6 : 18}"/>`

const label = (lines: readonly string[], x: number, y: number): string =>
  lines.map((line, i) => `<text x="${x}" y="${y + 4.5 + (i - (lines.length - 1) / 2) * 17}">${escapeXml(line)}</text>`).join('')

function box({ text, at, kind = 'box' }: Omit<Box, 'kind'> & { readonly kind?: string }): string {
  const [x, y] = centreOf(at)
  return rectangle(x, y, kind) + label(text, x, y)
}

function frame({ text, from, to }: Frame): string {
  const [left, top] = centreOf(from)
  const [right, bottom] = centreOf(to)
  const [x, y] = [left - CELL.width / 2 + 8, top - CELL.height / 2 + 2]
  const [width, height] = [right - left + CELL.width - 16, bottom - top + CELL.height - 4]
  return `<rect class="frame" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/><text class="note" x="${x + width / 2}" y="${y + 15}">${escapeXml(text)}</text>`
}

function arrow({ text, isDashed, bend = 0 }: Arrow, from: Point, to: Point): string {
  const middle = bentMiddle(from, to, bend)
  const [start, end] = [atBorder(from, middle), atBorder(to, middle)]
  const line = `<path class="line${isDashed ? ' dashed' : ''}" marker-end="url(#tip)" d="M${start.join(' ')} Q${middle.join(' ')} ${end.join(' ')}"/>`
  const place = [0, 1].map((i) => round((start[i]! + 2 * middle[i]! + end[i]!) / 4))
  return text === undefined
    ? line
    : `${line}<text class="note halo" x="${place[0]}" y="${place[1]! - 4}">${escapeXml(text)}</text>`
}

function bentMiddle([x1, y1]: Point, [x2, y2]: Point, bend: number): Point {
  const length = Math.hypot(x2 - x1, y2 - y1)
  return [round((x1 + x2) / 2 - ((y2 - y1) / length) * bend), round((y1 + y2) / 2 + ((x2 - x1) / length) * bend)]
}

/** Where the line from the centre of a box to `towards` leaves the box. */
function atBorder([x, y]: Point, [towardsX, towardsY]: Point): Point {
  const [dx, dy] = [towardsX - x, towardsY - y]
  const share = Math.min(
    dx === 0 ? Number.POSITIVE_INFINITY : (BOX.width / 2 + 3) / Math.abs(dx),
    dy === 0 ? Number.POSITIVE_INFINITY : (BOX.height / 2 + 3) / Math.abs(dy),
  )
  return [round(x + dx * share), round(y + dy * share)]
}

const round = (value: number): number => Math.round(value * 10) / 10

const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
