// Everything that leaves the project: tables, where they are delivered to, and how far each target is behind.

import { Link } from '@tanstack/react-router'
import { plural } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { Page } from '../../shell/page.tsx'
import { DeliveryTable } from '../../views/delivery-table.tsx'

export function DeliveriesScreen() {
  const query = useLoad('lineage.deliveries', {}, { again: () => 30_000 })
  const behind = query.data?.filter(({ state }) => state !== 'current').length ?? 0
  return (
    <Page
      title="Deliveries"
      crumbs={[{ name: 'Deliveries' }]}
      say={query.data ? sentence(query.data.length, behind) : 'Deliveries'}
      sub="Tables that writers send to other systems, and whether the targets have what was loaded last."
    >
      <section className="card" aria-label="Deliveries">
        <Loaded query={query} skeleton={<Lines count={6} />}>
          {(deliveries) =>
            deliveries.length === 0 ? (
              <p className="inset mute">
                No writer delivers a table yet. Begin with a <Link to="/templates">template</Link>, or add a writer under{' '}
                <Link to="/components">Components</Link>.
              </p>
            ) : (
              <DeliveryTable deliveries={deliveries} />
            )
          }
        </Loaded>
      </section>
    </Page>
  )
}

const sentence = (all: number, behind: number): string =>
  all === 0
    ? 'Nothing is delivered.'
    : behind === 0
      ? `${plural(all, 'delivery', 'deliveries')}, all up to date.`
      : `${behind} of ${plural(all, 'delivery', 'deliveries')} not up to date.`
