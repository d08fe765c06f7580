// The first five minutes: a real configuration of the sample shop, its run, its table; then a failure on purpose, its cause and the repair.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Job } from '../../../../client/src/operations.ts'
import type { FailedResult } from '../../facts/failure.ts'
import { isOver } from '../../facts/job.ts'
import { breakSampleShop, COMPONENT, CONFIGURATION, createSampleShop, runSampleShop, TABLE } from '../../facts/sample-shop.ts'
import { useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { Page } from '../../shell/page.tsx'
import { CauseCard } from '../../views/job-cause.tsx'
import './home.css'

const route = getRouteApi('/try')

type Step = 'first' | 'broken'

/** The jobs of the three steps are in the address, so a reload loses nothing. */
export function TryScreen() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const begin = useMutation({
    mutationFn: async (step: Step) => {
      if (step === 'first') await createSampleShop()
      if (step === 'broken') await breakSampleShop()
      const id = await runSampleShop()
      await queries.invalidateQueries({ queryKey: ['configurations.browse'] })
      await navigate({ to: '/try', search: { ...search, [step]: id } })
    },
  })
  const first = useStatus(search.first)
  const broken = useStatus(search.broken)
  const repaired = useStatus(search.repaired)
  return (
    <Page
      title="Try it"
      crumbs={[{ name: 'Home', to: '/' }, { name: 'Try it' }]}
      say={sentenceOf(first?.status, broken?.status, repaired?.status)}
      sub="The sample shop is part of this stack. Nothing leaves it."
    >
      {begin.error ? <Problem error={begin.error} /> : null}
      <section className="card" aria-label="Steps">
        <ol className="channel inset stack-6">
          <StepItem status={first?.status} title="Read an API into tables">
            <p className="soft">
              Creates a configuration with a login, a cursor and two rows, orders and customers, and runs it.
            </p>
            <StepRun job={first} label="Create and run it" isBusy={begin.isPending} onStart={() => begin.mutate('first')} />
            {first?.status === 'success' ? (
              <p className="flex-row wrap">
                <Link className="button primary" to="/storage/$tableId" params={{ tableId: TABLE }}>
                  <Icon name="table" />
                  <span>Open the table</span>
                </Link>
                <Link
                  className="button"
                  to="/components/$componentId/$configurationId"
                  params={{ componentId: COMPONENT, configurationId: CONFIGURATION }}
                >
                  See the configuration
                </Link>
              </p>
            ) : null}
          </StepItem>
          <StepItem status={broken?.status} title="Break it on purpose">
            <p className="soft">
              The shop sends one bad record on request. The run fails, reports why, and leaves the tables as they were.
            </p>
            <StepRun
              job={broken}
              label="Request the bad record"
              isBusy={begin.isPending || first?.status !== 'success'}
              onStart={() => begin.mutate('broken')}
            />
            {broken?.status === 'error' && !repaired ? (
              <CauseCard
                job={broken}
                result={broken.result as FailedResult} // described loosely
                onStarted={(id) => void navigate({ to: '/try', search: { ...search, repaired: id } })}
              />
            ) : null}
          </StepItem>
          <StepItem status={repaired?.status} title="Repair it">
            <p className="soft">
              The failure shows where it happened and suggests a repair. Applying it saves a new version, with undo, and runs it
              again.
            </p>
            {repaired ? <StepState job={repaired} /> : null}
          </StepItem>
        </ol>
      </section>
    </Page>
  )
}

const useStatus = (jobId: string | undefined): Job | undefined =>
  useLoad('queue.get', jobId === undefined ? undefined : { path: { id: jobId } }).data

function sentenceOf(first: string | undefined, broken: string | undefined, repaired: string | undefined): string {
  if (repaired === 'success') return 'Repaired. That was the whole round: run, look, break, repair.'
  if (broken === 'error') return 'It failed as expected, and shows why.'
  if (first === 'success') return 'The orders of the shop are a table now.'
  if (first !== undefined && !isOver(first)) return 'The sample shop is being read.'
  return 'From an API to a table in a minute.'
}

const StepItem = ({ status, title, children }: { status: string | undefined; title: string; children: ReactNode }) => (
  <li className={status !== undefined && isOver(status) ? 'done' : ''}>
    <span className="station">
      <Icon name={status === undefined ? 'st-created' : isOver(status) ? 'st-ok' : 'st-run'} />
    </span>
    <div className="stack-3">
      <h2 className="heading">{title}</h2>
      {children}
    </div>
  </li>
)

interface StepRunProps {
  readonly job: Job | undefined
  readonly label: string
  readonly isBusy: boolean
  readonly onStart: () => void
}

const StepRun = ({ job, label, isBusy, onStart }: StepRunProps) =>
  job ? (
    <StepState job={job} />
  ) : (
    <ActButton needs="configurations.create" className="button primary" disabled={isBusy} onClick={onStart}>
      {label}
    </ActButton>
  )

const StepState = ({ job }: { job: Job }) => (
  <p className="flex-row">
    <Status status={job.status} />
    <Link to="/jobs/$jobId" params={{ jobId: job.id }}>
      Job {job.id}
    </Link>
  </p>
)
