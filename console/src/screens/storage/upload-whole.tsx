// A file that is longer than its preview: read to its end in the browser, on request, so that every bad line is known before the load.

import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { SniffedFile } from '../../../../client/src/operations.ts'
import { bytes, count, plural } from '../../format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { readWhole, type WholeFile } from '../../upload/whole-file.ts'
import './storage.css'

const SHOWN = 20

interface WholeProps {
  readonly file: File
  readonly sniffed: SniffedFile
  readonly onAside: (bad: WholeFile['bad']) => void
  /** Some bytes are not UTF-8: another encoding is to be chosen. */
  readonly onEncoding: () => void
  /** The same file, unpacked. */
  readonly onUnpacked: (file: File) => void
}

export function WholeFileCard({ file, sniffed, onAside, onEncoding, onUnpacked }: WholeProps) {
  const [done, setDone] = useState(0)
  const stop = useRef<AbortController>(null)
  const reading = useMutation({
    mutationFn: () => {
      stop.current = new AbortController()
      const { delimiter, enclosure, hasHeader, columns } = sniffed
      return readWhole(file, { delimiter, enclosure, hasHeader, columns: columns.length }, stop.current.signal, setDone)
    },
  })
  const unpack = useMutation({
    mutationFn: async () => {
      const content = await new Response(file.stream().pipeThrough(new DecompressionStream('gzip'))).blob()
      return new File([content], file.name.replace(/\.gz$/i, ''), { type: 'text/csv', lastModified: file.lastModified })
    },
    onSuccess: onUnpacked,
  })
  const isPacked = sniffed.compression !== null
  const isStopped = reading.error?.name === 'AbortError'
  const error = unpack.error ?? (isStopped ? null : reading.error)
  return (
    <section className="card" aria-labelledby="whole">
      <header className="wrap">
        <h2 id="whole">The rest of the file</h2>
        <span className="fine mute">
          The preview shows the first {bytes(sniffed.sampledBytes)}
          {isPacked ? ', unpacked.' : ` of ${bytes(file.size)}.`}
        </span>
        {isPacked ? (
          <button type="button" className="button small push" disabled={unpack.isPending} onClick={() => unpack.mutate()}>
            {unpack.isPending ? 'Unpacking ...' : 'Unpack it here to look for bad lines'}
          </button>
        ) : reading.isPending ? (
          <button type="button" className="button small push" onClick={() => stop.current?.abort()}>
            Stop at {Math.round((100 * done) / file.size)} %
          </button>
        ) : (
          <button type="button" className="button small push" onClick={() => reading.mutate()}>
            Look for bad lines in the whole file
          </button>
        )}
      </header>
      {error ? <Problem error={error} /> : null}
      {reading.data ? <Result found={reading.data} onAside={onAside} onEncoding={onEncoding} /> : null}
    </section>
  )
}

function Result({ found, onAside, onEncoding }: { found: WholeFile } & Pick<WholeProps, 'onAside' | 'onEncoding'>) {
  const { rows, bad, isCut } = found
  if (bad.length === 0)
    return (
      <p className="inset flex-row" role="status">
        <Icon name="check" size="small" /> All {plural(rows, 'row')} can be read.
      </p>
    )
  return (
    <>
      <div className="inset flex-row wrap" role="status">
        <span className="grow">
          {plural(rows, 'row')} can be read, {plural(bad.length, 'line')} cannot.
          {isCut ? ' Reading stopped there: this is probably not the right delimiter or enclosure.' : ''}
        </span>
        {bad.some(({ kind }) => kind === 'encoding') ? (
          <button type="button" className="button small" onClick={onEncoding}>
            Choose the encoding
          </button>
        ) : null}
        {isCut ? null : (
          <button type="button" className="button small" onClick={() => onAside(bad)}>
            Keep {plural(bad.length, 'line')} aside
          </button>
        )}
      </div>
      <ul className="list trouble">
        {bad.slice(0, SHOWN).map(({ line, message, text }) => (
          <li key={line}>
            <span className="failed">
              <Icon name="st-err" />
            </span>
            <div className="grow stack-2">
              <p>
                <b>Line {count(line)}</b> {message}
              </p>
              <code className="bad-line clip">{text}</code>
            </div>
          </li>
        ))}
        {bad.length > SHOWN ? <li className="mute">{plural(bad.length - SHOWN, 'more line')}</li> : null}
      </ul>
    </>
  )
}
