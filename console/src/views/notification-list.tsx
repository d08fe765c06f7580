// Notifications: who is notified of what. Tested, removed, and new ones, wherever they are listed.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Answer } from '../../../client/src/client.ts'
import type { NotificationSubscribeBody } from '../../../client/src/operations.ts'
import { useNames } from '../facts/names.ts'
import type { ConfigurationPlace } from '../facts/use-configuration.ts'
import { moment } from '../format.ts'
import { ActButton } from '../parts/act-button.tsx'
import { ConfirmButton } from '../parts/confirm.tsx'
import { DialogEnd } from '../parts/dialog-end.tsx'
import { Dialog } from '../parts/drawer.tsx'
import { Form } from '../parts/form.tsx'
import { Label } from '../parts/guide.tsx'
import { ListTable } from '../parts/list-table.tsx'
import { Problem } from '../parts/problem.tsx'
import { api } from '../session.ts'
import { toast } from '../shell/toast.tsx'
import { ConfigurationSelect, useRunnable } from './configuration-select.tsx'

export type Subscription = Answer<'notification.list'>[number]

export const EVENTS: Readonly<Record<string, string>> = {
  'job-failed': 'a job fails',
  'job-succeeded': 'a job succeeds',
  'job-succeeded-with-warning': 'a job ends with a warning',
  'job-processing-long': 'a job runs longer than usual',
  'phase-job-failed': 'a phase of a flow fails',
  'schedule-missed': 'a scheduled run is missed',
  'table-not-updated': 'a table gets no new rows',
  'storage-nearly-full': 'the disk is nearly full',
  'dashboard-alert': 'a figure of a dashboard is beyond its bound',
  'data-tests-failed': 'tests on the data of a table fail',
}
/** Events whose filter needs an amount. */
const NEEDED: Readonly<Record<string, { readonly field: string; readonly label: string; readonly value: string }>> = {
  'table-not-updated': { field: 'hoursSinceUpdate', label: 'After so many hours', value: '24' },
}

/** Of this configuration; those of everything are not among them. */
export const isAbout =
  ({ componentId, configurationId }: ConfigurationPlace) =>
  ({ filters }: Subscription): boolean =>
    filters.some(({ field, value }) => field === 'job.configuration.id' && value === configurationId) &&
    filters.some(({ field, value }) => field === 'job.component.id' && value === componentId)

/** Its program checks the signature, and the secret of it is shown once: it cannot be created again as it was. */
const isSigned = ({ recipient }: Subscription): boolean =>
  recipient.channel === 'webhook' && (recipient.template ?? 'payload') === 'payload'

export function Subscriptions({ all }: { all: readonly Subscription[] }) {
  const queries = useQueryClient()
  const nameOf = useNames()
  const refresh = () =>
    queries.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith('notification.') })
  const unsubscribe = async (one: Subscription) => {
    await api.call('notification.unsubscribe', { path: { id: one.id } })
    await refresh()
  }
  const remove = useMutation({
    mutationFn: unsubscribe,
    onSuccess: (_, { event, filters, recipient }) =>
      toast('The notification is deleted.', async () => {
        await api.call('notification.subscribe', { body: { event, filters, recipient } as NotificationSubscribeBody }) // as it was
        await refresh()
      }),
  })
  const tryOut = useMutation({
    mutationFn: (one: Subscription) => api.call('notification.test', { path: { id: one.id } }),
    onSuccess: async (delivery) => {
      await refresh()
      toast(
        delivery.status === 'delivered'
          ? 'The test message was delivered.'
          : 'The test message is on its way; see below what became of it.',
      )
    },
  })
  const about = ({ filters }: Subscription) => {
    const component = filters.find(({ field }) => field === 'job.component.id')?.value
    const configuration = filters.find(({ field }) => field === 'job.configuration.id')?.value
    const rest = filters.filter(({ field }) => !['job.component.id', 'job.configuration.id', 'branch.id'].includes(field))
    const what = configuration ? nameOf(String(component ?? ''), String(configuration)) : undefined
    return (
      [what, ...rest.map(({ field, operator, value }) => `${field} ${operator} ${value}`)]
        .filter((part) => part !== undefined)
        .join(', ') || 'everything'
    )
  }
  const error = remove.error ?? tryOut.error
  return (
    <>
      {error ? <Problem error={error} /> : null}
      <ListTable label="Subscriptions" columns={['When', 'Of', 'Recipient', 'Since', { hidden: 'Actions' }]}>
        {all.map((one) => (
          <tr key={one.id}>
            <td className="medium">{EVENTS[one.event] ?? one.event}</td>
            <td>{about(one)}</td>
            <td className="what">
              {one.recipient.channel === 'email' ? one.recipient.address : (one.recipient.url ?? one.recipient.address)}
              {one.warnings.map((warning) => (
                <div key={warning} className="fine warn">
                  {warning}
                </div>
              ))}
            </td>
            <td className="nowrap">{moment(one.createdAt)}</td>
            <td>
              <span className="flex-row">
                <ActButton
                  needs="notification.test"
                  className="button small"
                  disabled={tryOut.isPending}
                  onClick={() => tryOut.mutate(one)}
                >
                  Send a test
                </ActButton>
                {isSigned(one) ? (
                  <ConfirmButton
                    label="Remove"
                    name={`when ${EVENTS[one.event] ?? one.event}`}
                    needs="notification.unsubscribe"
                    effect={
                      <p>
                        No message is sent to {one.recipient.url} any more. A new notification for it has another signing secret,
                        which the program there has to get first.
                      </p>
                    }
                    act={async () => {
                      await unsubscribe(one)
                      toast('The notification is deleted.')
                    }}
                  />
                ) : (
                  <ActButton needs="notification.unsubscribe" className="button small ghost" onClick={() => remove.mutate(one)}>
                    Remove
                  </ActButton>
                )}
              </span>
            </td>
          </tr>
        ))}
      </ListTable>
    </>
  )
}

/** `of`: what it is about at first; without it everything. */
export function NewSubscription({ of, onClose }: { of?: ConfigurationPlace; onClose: () => void }) {
  const queries = useQueryClient()
  const runnable = useRunnable()
  const [event, setEvent] = useState('job-failed')
  const [about, setAbout] = useState<ConfigurationPlace | undefined>(of)
  const [channel, setChannel] = useState('webhook')
  const [address, setAddress] = useState('')
  const needed = NEEDED[event]
  const [amount, setAmount] = useState('24')
  const create = useMutation({
    mutationFn: () => {
      const filters = [
        ...(about
          ? [
              { field: 'job.component.id', value: about.componentId },
              { field: 'job.configuration.id', value: about.configurationId },
            ]
          : []),
        ...(needed ? [{ field: needed.field, operator: '>=' as const, value: Number(amount) }] : []),
      ]
      const recipient =
        channel === 'email'
          ? { channel: 'email' as const, address }
          : {
              channel: 'webhook' as const,
              url: address,
              template: channel === 'webhook' ? ('payload' as const) : (channel as 'slack' | 'teams'),
            }
      return api.call('notification.subscribe', { body: { event, filters, recipient } })
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['notification.list'] })
      onClose()
      toast('Created. Send a test to see it arrive.')
    },
  })
  return (
    <Dialog title="New notification" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <div className="field">
          <Label htmlFor="event">Send a message when</Label>
          <select className="input" id="event" value={event} onChange={(change) => setEvent(change.target.value)}>
            {Object.entries(EVENTS).map(([id, name]) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </div>
        {needed ? (
          <div className="field">
            <Label htmlFor="amount">{needed.label}</Label>
            <input
              className="input"
              id="amount"
              type="number"
              min="1"
              required
              value={amount}
              onChange={(change) => setAmount(change.target.value)}
            />
          </div>
        ) : null}
        {event.startsWith('job-') ? (
          <div className="field">
            <Label htmlFor="about">Of</Label>
            <ConfigurationSelect
              id="about"
              list={runnable}
              value={about ? `${about.componentId} ${about.configurationId}` : ''}
              none="everything"
              onChange={setAbout}
            />
          </div>
        ) : null}
        <div className="field">
          <Label htmlFor="channel">To</Label>
          <select className="input" id="channel" value={channel} onChange={(change) => setChannel(change.target.value)}>
            <option value="webhook">a program, as JSON</option>
            <option value="slack">Slack</option>
            <option value="teams">Teams</option>
            <option value="email">a mailbox</option>
          </select>
        </div>
        <div className="field">
          <Label htmlFor="address">{channel === 'email' ? 'Mail address' : 'Address of the webhook'}</Label>
          <input
            className="input mono"
            id="address"
            required
            value={address}
            onChange={(change) => setAddress(change.target.value)}
          />
        </div>
        <DialogEnd error={create.error} isPending={create.isPending} onClose={onClose}>
          Create the notification
        </DialogEnd>
      </Form>
    </Dialog>
  )
}
