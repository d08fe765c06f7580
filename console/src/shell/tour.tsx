// A tour of five stops. It shows each screen itself with a note beside it, can be left at any stop, and begun again from Help.

import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { observable } from '../observable.ts'
import './shell.css'

interface Stop {
  readonly to: string
  readonly title: string
  readonly text: string
}

const STOPS: readonly Stop[] = [
  {
    to: '/',
    title: 'Home: is the data right?',
    text: 'The first sentence says what failed and what is late, and from how many causes. Below it are what runs, what comes next, and where data comes from and goes to.',
  },
  {
    to: '/storage',
    title: 'Storage: the tables',
    text: 'Tables lie in buckets. A table shows its rows with a figure for every column, its history, its tests and who uses it. Upload a file to add one.',
  },
  {
    to: '/sql',
    title: 'SQL: ask the data',
    text: 'Query all tables of the project. A result becomes a chart, a saved query, a table, or a transformation that runs by itself.',
  },
  {
    to: '/components',
    title: 'Components: bring data in and out',
    text: 'A component reads an API, a database or files, transforms tables, or delivers them. Its configuration has versions, so every change can be undone.',
  },
  {
    to: '/jobs',
    title: 'Jobs: what happened',
    text: 'Every run is a job with its log, its rows and its time. A failed one shows the cause and a repair. Ctrl K finds everything, the ? at the top opens the guides.',
  },
]

const STOP = 'millrace.tour'
const readStop = (): number | undefined => {
  const text = sessionStorage.getItem(STOP)
  const stop = text === null ? Number.NaN : Number(text)
  return stop in STOPS ? stop : undefined
}

/** Undefined: no tour. A reload resumes at the same stop. */
const current = observable<number | undefined>(readStop())

function show(stop: number | undefined): void {
  if (stop === undefined) sessionStorage.removeItem(STOP)
  else sessionStorage.setItem(STOP, String(stop))
  current.set(stop)
}

export const startTour = (): void => show(0)

export function Tour() {
  const stop = current.use()
  return stop === undefined ? null : <TourStop key={stop} stop={stop} />
}

function TourStop({ stop }: { stop: number }) {
  const navigate = useNavigate()
  const heading = useRef<HTMLHeadingElement>(null)
  const { to, title, text } = STOPS[stop]!
  useEffect(() => {
    void navigate({ to })
    heading.current?.focus() // read aloud; Tab leads to the buttons
  }, [navigate, to])
  const isLast = stop === STOPS.length - 1
  return (
    <section
      className="tour"
      aria-labelledby="tour-stop"
      onKeyDown={({ key }) => (key === 'Escape' ? show(undefined) : undefined)}
    >
      <p className="fine mute">
        Tour, stop {stop + 1} of {STOPS.length}
      </p>
      <h2 className="heading" id="tour-stop" tabIndex={-1} ref={heading}>
        {title}
      </h2>
      <p className="body-text soft">{text}</p>
      <div className="flex-row">
        <button type="button" className="button small ghost" onClick={() => show(undefined)}>
          {isLast ? 'Close' : 'Leave the tour'}
        </button>
        <button type="button" className="button small push" disabled={stop === 0} onClick={() => show(stop - 1)}>
          Back
        </button>
        {isLast ? null : (
          <button type="button" className="button small primary" onClick={() => show(stop + 1)}>
            Next
          </button>
        )}
      </div>
    </section>
  )
}
