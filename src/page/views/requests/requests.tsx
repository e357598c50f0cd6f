import { useMemo } from 'preact/hooks'
import type { ApiClient, Query } from '../../api/client.ts'
import { type ListPage, usePages } from '../../api/pages.ts'
import { Button } from '../../components/button.tsx'
import { Money, Time } from '../../components/facts.tsx'
import { SelectField } from '../../components/field.tsx'
import { formatDuration } from '../../components/format.ts'
import { PagedTable } from '../../components/paged-table.tsx'
import { type Column, countColumn, nameColumn } from '../../components/table-columns.tsx'
import { Empty, ViewHeader } from '../../components/view.tsx'
import { type PageRoute, routeHash } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { listParameters, readFilters } from '../filtered-period.ts'
import { PeriodFilters } from '../period-filters.tsx'
import { periodText } from '../usage/period.ts'
import { RequestDetail, RequestStatus } from './request-detail.tsx'
import { filterNames, type FinishedRequest, type RequestQuery } from './request.ts'

/** The view of finished requests, for the operator: a list with filters, and what happened to one. */
export function Requests({ path, query }: PageRoute) {
  const [id] = path
  return id === undefined ? <RequestList query={query} /> : <RequestDetail key={id} id={id} />
}

function RequestList({ query }: { readonly query: URLSearchParams }) {
  const text = query.toString()
  const shown = useMemo(() => readFilters(query, filterNames, '7d'), [text])
  // The pages of one list have the same times.
  const now = useMemo(() => Math.floor(Date.now() / 1000), [text])
  const admin = useAdminApi()
  const pages = usePages(
    (after, signal) => loadSome(admin, { ...listParameters(shown, now), after }, signal),
    [admin, shown, now],
  )
  return (
    <>
      <ViewHeader title="Requests">
        <Button label="Refresh" icon="retry" onClick={pages.reload} />
      </ViewHeader>
      <div class="stack">
        <Filters shown={shown} now={now} />
        <PagedTable
          label="Finished requests"
          columns={columns}
          pages={pages}
          rowKey={({ id }) => id}
          rowHref={({ id }) => routeHash('requests', [id])}
          empty={<NoRequests shown={shown} />}
        />
      </div>
    </>
  )
}

/** A page without requests ends a part of the search only: the next one goes on. */
async function loadSome(
  admin: ApiClient,
  query: Query,
  signal: AbortSignal,
): Promise<ListPage<FinishedRequest>> {
  let page: ListPage<FinishedRequest>
  let after = query.after
  do {
    page = await admin.get('/admin/requests', { query: { ...query, after, limit: 50 }, signal })
    after = page.last_id ?? undefined
  } while (page.data.length === 0 && page.has_more)
  return page
}

const columns: readonly Column<FinishedRequest>[] = [
  { id: 'time', header: 'Time', render: ({ created_at }) => <Time at={created_at} format="second" /> },
  { id: 'status', header: 'Status', render: (request) => <RequestStatus request={request} /> },
  nameColumn('model', 'Model', ({ model }) => model ?? '–'),
  { ...nameColumn<FinishedRequest>('provider', 'Provider', ({ provider }) => provider ?? '–'), minor: true },
  nameColumn('organization', 'Organization', ({ organization }) => organization),
  { ...nameColumn<FinishedRequest>('key', 'API key', ({ key, key_name }) => key_name ?? key), minor: true },
  { ...countColumn<FinishedRequest>('input', 'Input', ({ input_tokens }) => input_tokens), minor: true },
  { ...countColumn<FinishedRequest>('output', 'Output', ({ output_tokens }) => output_tokens), minor: true },
  {
    id: 'cost',
    header: 'Cost',
    align: 'right',
    render: ({ cost_usd }) => (cost_usd === null ? '–' : <Money usd={cost_usd} />),
  },
  {
    id: 'latency',
    header: 'Took',
    align: 'right',
    render: ({ latency_ms }) => (latency_ms === null ? '–' : formatDuration(latency_ms)),
  },
]

function NoRequests({ shown }: { readonly shown: RequestQuery }) {
  const filtered = Object.keys(shown.filters).length > 0
  return (
    <Empty
      title={`No ${filtered ? 'such requests' : 'requests'} ${periodText(shown.period)}`}
      text={filtered ? 'Remove a filter, or choose a longer period.' : 'Choose a longer period.'}
    />
  )
}

const statuses = [
  { value: '', label: 'Any' },
  { value: 'failed', label: 'Failed' },
  { value: '5xx', label: 'Errors of providers and the gateway' },
  { value: '4xx', label: 'Errors of clients' },
  { value: '200', label: '200' },
] as const

type FilterProps = { readonly shown: RequestQuery; readonly now: number }

/** The period and the filters, which are kept in the address. */
function Filters({ shown, now }: FilterProps) {
  return (
    <PeriodFilters shown={shown} now={now} names={filterNames} first="model" own="status">
      {(setFilter) => (
        <StatusField value={shown.filters.status ?? ''} onChange={(value) => setFilter('status', value)} />
      )}
    </PeriodFilters>
  )
}

/** One of the statuses, or any that the address has. */
function StatusField({
  value,
  onChange,
}: {
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const known = statuses.some((status) => status.value === value)
  return (
    <SelectField
      label="Status"
      value={value}
      options={known ? statuses : [...statuses, { value, label: value }]}
      onChange={onChange}
    />
  )
}
