// Notifications: who is notified of what, a test that really delivers, and what became of every message.

import type { Answer } from '../../../../client/src/client.ts'
import { moment, plural } from '../../format.ts'
import { Listing } from '../../listing.tsx'
import { Loaded, useLoad } from '../../load.tsx'
import { CreateButton } from '../../parts/create-button.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Status } from '../../parts/status.tsx'
import { Page } from '../../shell/page.tsx'
import { EVENTS, NewSubscription, Subscriptions } from '../../views/notification-list.tsx'

type Delivery = Answer<'notification.deliveries'>[number]

export function NotificationsScreen() {
  const query = useLoad('notification.list', { query: {} })
  const deliveries = useLoad('notification.deliveries', { query: { limit: 50 } })
  return (
    <Page
      title="Notifications"
      crumbs={[{ name: 'Notifications' }]}
      say={query.data ? sentence(query.data.length, deliveries.data ?? []) : 'Notifications'}
      actions={
        <CreateButton label="New notification" needs="notification.subscribe">
          {(close) => <NewSubscription onClose={close} />}
        </CreateButton>
      }
    >
      <div className="stack-4">
        <Listing
          label="Subscriptions"
          query={query}
          count={query.data?.length ?? 0}
          teach="A notification sends a message to a mailbox, a chat tool or a program of yours when a job fails, a run is missed or a table gets no new rows."
        >
          <Subscriptions all={query.data ?? []} />
        </Listing>
        <section className="card" aria-labelledby="deliveries">
          <header>
            <h2 id="deliveries">Messages</h2>
          </header>
          <Loaded query={deliveries}>
            {(all) => (all.length === 0 ? <p className="inset mute">No message has been sent yet.</p> : <Deliveries all={all} />)}
          </Loaded>
        </section>
      </div>
    </Page>
  )
}

function sentence(subscriptions: number, messages: readonly Delivery[]): string {
  if (subscriptions === 0) return 'No notifications are set up.'
  const failed = messages.filter(({ status }) => status === 'failed').length
  const waiting = messages.filter(({ status }) => status === 'waiting').length
  const what =
    failed > 0
      ? `${plural(failed, 'message')} could not be delivered`
      : waiting > 0
        ? `${plural(waiting, 'message')} on the way`
        : messages.length === 0
          ? 'no message sent yet'
          : 'every message arrived'
  return `${plural(subscriptions, 'notification')}, ${what}.`
}

const STATUS: Readonly<Record<string, string>> = {
  waiting: 'waiting',
  delivered: 'success',
  failed: 'error',
  cancelled: 'cancelled',
}

const Deliveries = ({ all }: { all: readonly Delivery[] }) => (
  <ListTable label="Messages" columns={['Status', 'About', 'To', 'Sent', { num: 'Tries' }, 'Last answer']}>
    {all.map((one) => {
      const last = one.attempts.at(-1)
      return (
        <tr key={one.id}>
          <td>
            <Status status={STATUS[one.status] ?? one.status} {...(one.status === 'delivered' ? { text: 'Delivered' } : {})} />
          </td>
          <td>{EVENTS[one.event] ?? one.event}</td>
          <td className="what clip">{one.recipient.url ?? one.recipient.address}</td>
          <td className="nowrap">{moment(one.createdAt)}</td>
          <td className="numeric">{one.attempts.length}</td>
          <td className="mute what">{last ? (last.error ?? `${last.statusCode ?? ''} in ${last.durationMs} ms`) : ''}</td>
        </tr>
      )
    })}
  </ListTable>
)
