// The coming seven days: which schedule runs on which day and hour, as the server plans them.

import { useQueries } from '@tanstack/react-query'
import type { Schedule } from '../../../../client/src/operations.ts'
import { parseTime, plural, wallTime, zone } from '../../format.ts'
import { Scroll } from '../../parts/scroll.tsx'
import { api } from '../../session.ts'
import './schedules.css'

const DAYS = 7
const DAY_MS = 86_400_000
const HOURS = Array.from({ length: 24 }, (_, hour) => hour)
/** As many as the server plans ahead; a schedule with more in a week is cut there, with a note. */
const PLANNED = 1000

interface Run {
  readonly name: string
  /** What clocks of the zone show. */
  readonly time: Date
  readonly dst: string | null
}

const dayName = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' })
const keyOf = (time: Date, hour = time.getUTCHours()): string => `${time.getUTCMonth()}-${time.getUTCDate()} ${hour}`

interface WeekProps {
  readonly schedules: readonly Schedule[]
  readonly nameOf: (component: string, configuration: string) => string
}

export function Week({ schedules, nameOf }: WeekProps) {
  const active = schedules.filter(({ nextExecutionTime }) => nextExecutionTime !== null)
  const queries = useQueries({
    queries: active.map(({ id }) => ({
      queryKey: ['scheduler.next', { path: { id }, query: { count: PLANNED } }],
      queryFn: () => api.call('scheduler.next', { path: { id }, query: { count: PLANNED } }),
    })),
  })
  const today = Math.floor(wallTime(new Date()).getTime() / DAY_MS)
  const days = Array.from({ length: DAYS }, (_, index) => new Date((today + index) * DAY_MS))
  const end = new Date((today + DAYS) * DAY_MS)
  const runs = active.flatMap(({ target }, index): readonly Run[] =>
    (queries[index]?.data ?? []).map(({ executionTime, dst }) => ({
      name: nameOf(target.componentId, target.configurationId),
      time: wallTime(parseTime(executionTime)),
      dst,
    })),
  )
  const cut = active.filter((_, index) => {
    const planned = queries[index]?.data ?? []
    return planned.length === PLANNED && wallTime(parseTime(planned.at(-1)!.executionTime)) < end
  })
  const byHour = Map.groupBy(
    runs.filter(({ time }) => time < end),
    ({ time }) => keyOf(time),
  )
  return (
    <section className="card" aria-labelledby="week">
      <header>
        <h2 id="week">The coming seven days</h2>
        <span className="fine mute">
          {plural(active.length, 'schedule')}, {zone}
        </span>
      </header>
      {cut.length > 0 ? (
        <p className="inset fine mute">
          Of {cut.map(({ target }) => nameOf(target.componentId, target.configurationId)).join(', ')} the next {PLANNED} runs are
          shown.
        </p>
      ) : null}
      <Scroll label="Runs by day and hour">
        <table className="data-table week">
          <thead>
            <tr>
              <th>Hour</th>
              {days.map((day) => (
                <th key={day.getTime()}>{dayName.format(day)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {HOURS.filter((hour) => days.some((day) => byHour.has(keyOf(day, hour)))).map((hour) => (
              <tr key={hour}>
                <th scope="row" className="tabular">
                  {String(hour).padStart(2, '0')}
                </th>
                {days.map((day) => (
                  <td key={day.getTime()}>
                    <Hour runs={byHour.get(keyOf(day, hour)) ?? []} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}

const minuteOf = (time: Date): string => `:${String(time.getUTCMinutes()).padStart(2, '0')}`

const Hour = ({ runs }: { runs: readonly Run[] }) => (
  <>
    {[...Map.groupBy(runs, ({ name }) => name)].map(([name, list]) => (
      <div key={name} className="week-run clip" title={`${name} ${list.map(({ time }) => minuteOf(time)).join(' ')}`}>
        <span className="tabular mute">
          {list.length > 2 ? `${list.length} times` : list.map(({ time }) => minuteOf(time)).join(' ')}
        </span>{' '}
        {list.some(({ dst }) => dst !== null) ? <span className="warn">clock change </span> : null}
        {name}
      </div>
    ))}
  </>
)
