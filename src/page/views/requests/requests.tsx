import type { FinishedRequest } from '../../api/objects.ts'
import { Money, Time } from '../../components/facts.tsx'
import { formatDuration } from '../../components/format.ts'
import { type Column, column, countColumn, nameColumn } from '../../components/table-columns.tsx'
import type { PageRoute } from '../../route.ts'
import { PeriodList, type PeriodListOf, useListHash } from '../period-list.tsx'
import { RequestDetail, RequestStatus } from './request-detail.tsx'
import { costOf, type FilterName, filterNames } from './request.ts'

/** The view of finished requests, for the operator: a list with filters, and what happened to one. */
export function Requests(route: PageRoute) {
  const { path, query } = route
  const [id] = path
  const back = useListHash(list.view, route)
  return id === undefined ? (
    <PeriodList list={list} query={query} />
  ) : (
    <RequestDetail key={id} id={id} back={back} />
  )
}

const right = { align: 'right' } as const

const columns: readonly Column<FinishedRequest>[] = [
  column('time', 'Time', ({ created_at }) => <Time at={created_at} format="second" />),
  column('status', 'Status', (request) => <RequestStatus request={request} />),
  nameColumn('model', 'Model', ({ model }) => model ?? '–'),
  { ...nameColumn<FinishedRequest>('provider', 'Provider', ({ provider }) => provider ?? '–'), minor: true },
  nameColumn('organization', 'Organization', ({ organization }) => organization),
  { ...nameColumn<FinishedRequest>('key', 'API key', ({ key, key_name }) => key_name ?? key), minor: true },
  { ...countColumn<FinishedRequest>('input', 'Input', ({ input_tokens }) => input_tokens), minor: true },
  { ...countColumn<FinishedRequest>('output', 'Output', ({ output_tokens }) => output_tokens), minor: true },
  column('cost', 'Cost', (request) => <Money usd={costOf(request) ?? ''} />, right),
  column('latency', 'Took', ({ latency_ms: ms }) => (ms === null ? '–' : formatDuration(ms)), right),
]

const statuses = [
  { value: '', label: 'Any' },
  { value: 'failed', label: 'Failed' },
  { value: '5xx', label: 'Errors of providers and the gateway' },
  { value: '4xx', label: 'Errors of clients' },
  { value: '200', label: '200' },
] as const

const list: PeriodListOf<FinishedRequest, FilterName> = {
  view: 'requests',
  title: 'Requests',
  path: '/admin/requests',
  label: 'Finished requests',
  rows: 'requests',
  columns,
  range: '7d',
  filters: filterNames,
  first: 'model',
  choice: { name: 'status', options: statuses },
}
