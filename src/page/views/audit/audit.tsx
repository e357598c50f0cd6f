import type { AuditEntry } from '../../api/objects.ts'
import { Time } from '../../components/facts.tsx'
import { type Column, column, nameColumn } from '../../components/table-columns.tsx'
import type { PageRoute } from '../../route.ts'
import { PeriodList, type PeriodListOf, useListHash } from '../period-list.tsx'
import { AuditDetail } from './audit-detail.tsx'
import { events, filterNames, nameOf } from './audit-entry.ts'

/** The view of the audit log, for the operator: a list of changes with filters, and the values of one. */
export function Audit(route: PageRoute) {
  const { path, query } = route
  const [id] = path
  const back = useListHash(list.view, route)
  return id === undefined ? (
    <PeriodList list={list} query={query} />
  ) : (
    <AuditDetail key={id} id={id} back={back} />
  )
}

const columns: readonly Column<AuditEntry>[] = [
  column('time', 'Time', ({ created_at }) => <Time at={created_at} format="second" />),
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

const eventOptions = [{ value: '', label: 'Any' }, ...events.map((event) => ({ value: event, label: event }))]

const list: PeriodListOf<AuditEntry, keyof typeof filterNames> = {
  view: 'audit',
  title: 'Audit',
  path: '/admin/audit_logs',
  label: 'Changes',
  rows: 'changes',
  columns,
  range: '30d',
  filters: filterNames,
  first: 'resource',
  choice: { name: 'event', options: eventOptions },
}
