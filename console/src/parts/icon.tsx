// The icons of the console: strokes on a field of 16 by 16. Names that begin with `st-` are the shapes of a status.

import type { JSX } from 'react'
import './parts.css'

const SHAPES = {
  bell: <path d="M4 11.2V7a4 4 0 0 1 8 0v4.2l1 1H3zM6.6 13.8h2.8" />,
  bolt: <path d="M8.8 1.8 3.4 9.2h4L7.2 14.2l5.4-7.4h-4z" />,
  book: <path d="M2.4 3.2c2.2-.6 4.2-.3 5.6.8 1.4-1.1 3.4-1.4 5.6-.8v9.2c-2.2-.6-4.2-.3-5.6.8-1.4-1.1-3.4-1.4-5.6-.8zM8 4v9.2" />,
  branch: (
    <>
      <circle cx="4.4" cy="3.6" r="1.6" />
      <circle cx="4.4" cy="12.4" r="1.6" />
      <circle cx="11.6" cy="4.8" r="1.6" />
      <path d="M4.4 5.2v5.6M11.6 6.4c0 2.6-3 2.4-5 3.4" />
    </>
  ),
  calendar: (
    <>
      <rect x="2.2" y="3.2" width="11.6" height="10.4" rx="1.3" />
      <path d="M2.2 6.6h11.6M5.2 1.8v2.6M10.8 1.8v2.6" />
    </>
  ),
  camera: (
    <>
      <rect x="1.8" y="4.4" width="12.4" height="8.8" rx="1.3" />
      <circle cx="8" cy="8.8" r="2.3" />
      <path d="m5.6 4.4.9-1.6h3l.9 1.6" />
    </>
  ),
  chart: <path d="M2.4 13.4h11.2M4.4 11V7.4M8 11V3.4M11.6 11V5.6" />,
  check: <path d="m3 8.6 3.2 3.2L13 5" />,
  clock: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 4.6V8l2.3 1.6" />
    </>
  ),
  code: <path d="M5.2 4 1.6 8l3.6 4M10.8 4l3.6 4-3.6 4" />,
  copy: (
    <>
      <rect x="5.4" y="5.4" width="8.4" height="8.4" rx="1.3" />
      <path d="M10.6 5.4V3.5a1.3 1.3 0 0 0-1.3-1.3H3.5a1.3 1.3 0 0 0-1.3 1.3v5.8a1.3 1.3 0 0 0 1.3 1.3h1.9" />
    </>
  ),
  desc: <path d="M8 3v9.6M4.4 9 8 12.6 11.6 9" />,
  disk: (
    <>
      <ellipse cx="8" cy="4" rx="5.4" ry="2" />
      <path d="M2.6 4v8c0 1.1 2.4 2 5.4 2s5.4-.9 5.4-2V4M2.6 8c0 1.1 2.4 2 5.4 2s5.4-.9 5.4-2" />
    </>
  ),
  down: <path d="m3.6 6 4.4 4.4L12.4 6" />,
  download: <path d="M8 2.4v7.8M4.6 7.2 8 10.4l3.4-3.2M2.6 13.4h10.8" />,
  edit: <path d="m10.8 2.6 2.6 2.6-7.6 7.6-3.2.6.6-3.2z" />,
  external: <path d="M9.4 2.6h4v4M13.2 2.8 7.6 8.4M11.4 9.4v3.4a.8.8 0 0 1-.8.8H3.4a.8.8 0 0 1-.8-.8V5.6a.8.8 0 0 1 .8-.8h3.4" />,
  eye: (
    <>
      <path d="M1.6 8S4 3.6 8 3.6 14.4 8 14.4 8 12 12.4 8 12.4 1.6 8 1.6 8z" />
      <circle cx="8" cy="8" r="1.9" />
    </>
  ),
  file: (
    <>
      <path d="M4 1.8h5L12.5 5.3v8.2a.7.7 0 0 1-.7.7H4.2a.7.7 0 0 1-.7-.7V2.5a.7.7 0 0 1 .5-.7z" />
      <path d="M8.8 1.9v3.6h3.6" />
    </>
  ),
  filter: <path d="M2.2 3.4h11.6L9.4 8.6v4.2l-2.8-1.4V8.6z" />,
  flow: (
    <>
      <rect x="1.8" y="2.2" width="4.4" height="3.6" rx="1" />
      <rect x="9.8" y="6.2" width="4.4" height="3.6" rx="1" />
      <rect x="1.8" y="10.2" width="4.4" height="3.6" rx="1" />
      <path d="M6.2 4h1.2A1.6 1.6 0 0 1 9 5.6v4.8A1.6 1.6 0 0 1 7.4 12H6.2M9 8h.8" />
    </>
  ),
  gear: (
    <>
      <circle cx="8" cy="8" r="2.1" />
      <path d="M8 1.8v1.7M8 12.5v1.7M1.8 8h1.7M12.5 8h1.7M3.6 3.6l1.2 1.2M11.2 11.2l1.2 1.2M3.6 12.4l1.2-1.2M11.2 4.8l1.2-1.2" />
    </>
  ),
  grip: <path d="M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01" strokeWidth="2" />,
  hash: <path d="M6.2 2.6 4.8 13.4M11.2 2.6 9.8 13.4M2.8 6h10.8M2.4 10h10.8" />,
  help: (
    <>
      <circle cx="8" cy="8" r="6.2" />
      <path d="M6.2 6.3a1.9 1.9 0 1 1 2.7 1.8c-.6.3-.9.7-.9 1.3M8 11.6h.01" />
    </>
  ),
  history: (
    <>
      <path d="M2.4 4.4v3h3" />
      <path d="M2.8 7.2A5.6 5.6 0 1 1 3 10M8 5v3.2l2 1.4" />
    </>
  ),
  home: <path d="M2.5 7.2 8 2.8l5.5 4.4v5.6a.7.7 0 0 1-.7.7H9.8V9.8H6.2v3.7h-3a.7.7 0 0 1-.7-.7z" />,
  info: (
    <>
      <circle cx="8" cy="8" r="6.2" />
      <path d="M8 7.4v3.6M8 5h.01" />
    </>
  ),
  jobs: <path d="M2.5 4h8M2.5 8h11M2.5 12h5.5" />,
  json: (
    <path d="M6 2.6c-1.8 0-2 .8-2 2.2S3.6 7.6 2.4 8c1.2.4 1.6 1.8 1.6 3.2s.2 2.2 2 2.2M10 2.6c1.8 0 2 .8 2 2.2s.4 2.8 1.6 3.2c-1.2.4-1.6 1.8-1.6 3.2s-.2 2.2-2 2.2" />
  ),
  key: (
    <>
      <circle cx="5.2" cy="10.8" r="2.8" />
      <path d="m7.2 8.8 6-6M11 5l1.8 1.8M9.2 6.8l1.2 1.2" />
    </>
  ),
  leave: <path d="M9 2.6H3.4v10.8H9M6.6 8h6.8M10.8 5.2 13.6 8l-2.8 2.8" />,
  lock: (
    <>
      <rect x="3" y="7" width="10" height="6.8" rx="1.3" />
      <path d="M5.2 7V5a2.8 2.8 0 0 1 5.6 0v2" />
    </>
  ),
  menu: <path d="M2.4 4.4h11.2M2.4 8h11.2M2.4 11.6h11.2" />,
  more: <path d="M3.4 8h.01M8 8h.01M12.6 8h.01" strokeWidth="2.4" />,
  pause: <path d="M5.2 3.2v9.6M10.8 3.2v9.6" />,
  people: (
    <>
      <circle cx="6" cy="5.4" r="2.4" />
      <path d="M1.6 13.4c.3-2.6 2-4 4.4-4s4.1 1.4 4.4 4M10.6 3.2a2.4 2.4 0 0 1 0 4.4M12 9.9c1.4.5 2.2 1.7 2.4 3.5" />
    </>
  ),
  play: <path d="M4.6 2.9v10.2L13 8z" />,
  plug: <path d="M5.5 1.8v3M10.5 1.8v3M3.6 4.8h8.8v2.6a4.4 4.4 0 0 1-8.8 0zM8 11.8v2.6" />,
  plus: <path d="M8 3v10M3 8h10" />,
  pulse: <path d="M1.6 8h2.9l1.9-4.8 3.1 9.6L11.4 8h3" />,
  refresh: <path d="M13.4 6.6A5.6 5.6 0 0 0 3.2 5M2.6 9.4A5.6 5.6 0 0 0 12.8 11M3 2.4V5h2.6M13 13.6V11h-2.6" />,
  rerun: <path d="M3 8a5 5 0 1 1 1.6 3.7M3 12.6V9.4M3 8l-1.4-1.4M3 8l1.6-1.4" />,
  right: <path d="m6 3.6 4.4 4.4L6 12.4" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.4" />
      <path d="m10.4 10.4 3.4 3.4" />
    </>
  ),
  sql: (
    <>
      <rect x="1.8" y="2.8" width="12.4" height="10.4" rx="1.4" />
      <path d="m4.6 6 2 2-2 2M8.4 10.4h3" />
    </>
  ),
  'st-cancel': (
    <>
      <circle cx="8" cy="8" r="6.2" />
      <path d="m3.8 12.2 8.4-8.4" />
    </>
  ),
  'st-created': <circle cx="8" cy="8" r="6.2" strokeDasharray="2.2 2.6" />,
  'st-err': (
    <>
      <path d="M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4l-3.6-3.6V5.4z" />
      <path d="m5.8 5.8 4.4 4.4M10.2 5.8l-4.4 4.4" />
    </>
  ),
  'st-late': (
    <>
      <circle cx="8" cy="8" r="6.2" />
      <path d="M8 4.4V8l2.6 1.6" />
    </>
  ),
  'st-ok': (
    <>
      <circle cx="8" cy="8" r="6.2" />
      <path d="m5.2 8.3 2 2 3.8-4.4" />
    </>
  ),
  'st-pause': (
    <>
      <circle cx="8" cy="8" r="6.2" />
      <path d="M6.4 5.8v4.4M9.6 5.8v4.4" />
    </>
  ),
  'st-run': (
    <>
      <circle cx="8" cy="8" r="6" opacity=".28" />
      <path className="turning" d="M8 2a6 6 0 0 1 6 6" />
    </>
  ),
  'st-skip': <path d="m3.4 4 4 4-4 4M8.8 4l4 4-4 4" />,
  'st-stop': (
    <>
      <rect x="2.4" y="2.4" width="11.2" height="11.2" rx="2" />
      <rect x="5.8" y="5.8" width="4.4" height="4.4" rx=".6" fill="currentColor" />
    </>
  ),
  'st-wait': (
    <>
      <circle cx="8" cy="8" r="6.2" />
      <path d="M5.2 8h.01M8 8h.01M10.8 8h.01" strokeWidth="2" />
    </>
  ),
  'st-warn': (
    <>
      <path d="M8 2.2 14.4 13.4H1.6z" />
      <path d="M8 6.4v3.2M8 11.5h.01" />
    </>
  ),
  stop: <rect x="3.4" y="3.4" width="9.2" height="9.2" rx="1.2" />,
  star: <path d="m8 1.8 1.9 4 4.3.6-3.1 3 .8 4.3L8 11.6l-3.9 2.1.8-4.3-3.1-3 4.3-.6z" />,
  'star-full': <path fill="currentColor" d="m8 1.8 1.9 4 4.3.6-3.1 3 .8 4.3L8 11.6l-3.9 2.1.8-4.3-3.1-3 4.3-.6z" />,
  sun: (
    <>
      <circle cx="8" cy="8" r="2.8" />
      <path d="M8 1.6v1.4M8 13v1.4M1.6 8H3M13 8h1.4M3.5 3.5l1 1M11.5 11.5l1 1M3.5 12.5l1-1M11.5 4.5l1-1" />
    </>
  ),
  table: (
    <>
      <rect x="2" y="2.8" width="12" height="10.4" rx="1.4" />
      <path d="M2 6.3h12M2 9.8h12M6.2 6.3v6.9" />
    </>
  ),
  text: <path d="M3 4h10M8 4v8.4" />,
  updown: <path d="m5 6 3-3 3 3M5 10l3 3 3-3" />,
  upload: <path d="M8 10.4V2.6M4.6 5.8 8 2.6l3.4 3.2M2.6 13.4h10.8" />,
  wand: <path d="m2.4 13.6 7.8-7.8M9 2.2v2M13.8 7h-2M12.6 3.4l-1.4 1.4" />,
  window: (
    <>
      <rect x="1.8" y="2.8" width="12.4" height="10.4" rx="1.3" />
      <path d="M1.8 6h12.4M4 4.4h.01M5.8 4.4h.01" />
    </>
  ),
  x: <path d="m4 4 8 8M12 4l-8 8" />,
} satisfies Record<string, JSX.Element>

export type IconName = keyof typeof SHAPES

/** Decoration beside a word: screen readers pass over it. */
export const Icon = ({ name, size = '' }: { name: IconName; size?: 'small' | 'large' | '' }) => (
  <svg className={`glyph ${size}`} viewBox="0 0 16 16" aria-hidden="true">
    {SHAPES[name]}
  </svg>
)

export const Logo = () => (
  <svg viewBox="0 0 24 24" aria-hidden="true">
    <rect width="24" height="24" rx="6" fill="var(--action)" />
    {[9.2, 13, 16.8].map((y, index) => (
      <path
        key={y}
        d={`M4.5 ${y}c2.5 0 2.5-2 5-2s2.5 2 5 2 2.5-2 5-2`}
        stroke={index === 0 ? 'var(--c-1)' : 'var(--ink-on-action)'}
        strokeOpacity={index === 2 ? 0.45 : 1}
        strokeWidth="2"
        fill="none"
        strokeLinecap="round"
      />
    ))}
  </svg>
)
