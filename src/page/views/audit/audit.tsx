import { useMemo } from 'preact/hooks'
import { type ListPage, usePages } from '../../api/pages.ts'
import { Button } from '../../components/button.tsx'
import { Time } from '../../components/facts.tsx'
import { SelectField } from '../../components/field.tsx'
import { PagedTable } from '../../components/paged-table.tsx'
import { type Column, nameColumn } from '../../components/table-columns.tsx'
import { Empty, ViewHeader } from '../../components/view.tsx'
import { type PageRoute, routeHash } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { type FilteredPeriod, listParameters, readFilters } from '../filtered-period.ts'
import { PeriodFilters } from '../period-filters.tsx'
import { periodText } from '../usage/period.ts'
import { AuditDetail } from './audit-detail.tsx'
import { type AuditEntry, events, filterNames, nameOf } from './audit-entry.ts'

/** The view of the audit log, for the operator: a list of changes with filters, and the values of one. */
export function Audit({ path, query }: PageRoute) {
  const [id] = path
  return id === undefined ? <AuditList query={query} /> : <AuditDetail key={id} id={id} />
}

type Shown = FilteredPeriod<keyof typeof filterNames>

function AuditList({ query }: { readonly query: URLSearchParams }) {
  const text = query.toString()
  const shown = useMemo(() => readFilters(query, filterNames, '30d'), [text])
  // The pages of one list have the same times.
  const now = useMemo(() => Math.floor(Date.now() / 1000), [text])
  const admin = useAdminApi()
  const pages = usePages(
    (after, signal) =>
      admin.get<ListPage<AuditEntry>>('/admin/audit_logs', {
        query: { ...listParameters(shown, now), after, limit: 50 },
        signal,
      }),
    [admin, shown, now],
  )
  return (
    <>
      <ViewHeader title="Audit">
        <Button label="Refresh" icon="retry" onClick={pages.reload} />
      </ViewHeader>
      <div class="stack">
        <PeriodFilters shown={shown} now={now} names={filterNames} first="resource" own="event">
          {(setFilter) => (
            <EventField value={shown.filters.event ?? ''} onChange={(value) => setFilter('event', value)} />
          )}
        </PeriodFilters>
        <PagedTable
          label="Changes"
          columns={columns}
          pages={pages}
          rowKey={({ id }) => id}
          rowHref={({ id }) => routeHash('audit', [id])}
          empty={<NoChanges shown={shown} />}
        />
      </div>
    </>
  )
}

const columns: readonly Column<AuditEntry>[] = [
  { id: 'time', header: 'Time', render: ({ created_at }) => <Time at={created_at} format="second" /> },
  nameColumn('event', 'Event', ({ event }) => event),
  nameColumn('resource', 'Object', ({ resource }) => nameOf(resource)),
  nameColumn('organization', 'Organization', ({ organization }) => organization ?? '–'),
  nameColumn('actor', 'Actor', ({ actor }) => nameOf(actor)),
  { ...nameColumn<AuditEntry>('changed', 'Changed', changedText), minor: true },
]

/** The names of the changed fields; of what is new or deleted, the list has too many. */
function changedText({ before, after }: AuditEntry): string {
  return before === null || after === null ? '–' : Object.keys(after).join(', ')
}

function NoChanges({ shown }: { readonly shown: Shown }) {
  const filtered = Object.keys(shown.filters).length > 0
  return (
    <Empty
      title={`No ${filtered ? 'such changes' : 'changes'} ${periodText(shown.period)}`}
      text={filtered ? 'Remove a filter, or choose a longer period.' : 'Choose a longer period.'}
    />
  )
}

const eventOptions = [{ value: '', label: 'Any' }, ...events.map((event) => ({ value: event, label: event }))]

function EventField(props: { readonly value: string; readonly onChange: (value: string) => void }) {
  return <SelectField label="Event" options={eventOptions} {...props} />
}
