import { useMemo } from 'preact/hooks'
import { type ListPage, usePages } from '../../api/pages.ts'
import { Foreign, Time } from '../../components/facts.tsx'
import { formatCount, visibleText } from '../../components/format.ts'
import { Table } from '../../components/table.tsx'
import type { Column } from '../../components/table-columns.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { Empty, Failure, Loading, ViewHeader } from '../../components/view.tsx'
import { type PageRoute, routeHash } from '../../route.ts'
import { useApi } from '../../session.tsx'
import { CompletionDetail } from './completion-detail.tsx'
import { ResponseDetail } from './response-detail.tsx'
import { FilterForm, listParameters, readFilter, type StoredFilter } from './stored-filter.tsx'
import { StatusBadge } from './stored-object.tsx'
import { type StoredKind, summarizeCompletion, summarizeResponse, type Summary } from './summary.ts'

/** The view of what is stored: completions and responses, to be read, replayed, changed and deleted. */
export function Stored({ path, query }: PageRoute) {
  const [kind, id] = path
  if (kind === 'completions' && id !== undefined) return <CompletionDetail key={id} id={id} query={query} />
  if (kind === 'responses' && id !== undefined) return <ResponseDetail key={id} id={id} query={query} />
  return <StoredLists kind={kind === 'responses' ? 'responses' : 'completions'} query={query} />
}

const tabs = [
  { id: 'completions', label: 'Completions' },
  { id: 'responses', label: 'Responses' },
] as const

/** The lists of stored completions and of stored responses. */
function StoredLists({ kind, query }: { readonly kind: StoredKind; readonly query: URLSearchParams }) {
  const text = query.toString()
  const filter = useMemo(() => readFilter(query), [text])
  return (
    <>
      <ViewHeader title="Stored" />
      <Tabs
        label="What is stored"
        tabs={tabs}
        selected={kind}
        onSelect={(id) => {
          location.hash = routeHash('stored', [id])
        }}
      >
        <div class="stack">
          <FilterForm kind={kind} filter={filter} />
          <StoredTable key={kind} kind={kind} filter={filter} />
        </div>
      </Tabs>
    </>
  )
}

const lists = {
  completions: {
    path: '/v1/chat/completions',
    summarize: summarizeCompletion,
    label: 'Stored completions',
    empty: {
      title: 'No completions are stored',
      text: 'A chat completion is stored if its request has "store": true.',
    },
  },
  responses: {
    path: '/v1/responses',
    summarize: summarizeResponse,
    label: 'Stored responses',
    empty: {
      title: 'No responses are stored',
      text: 'A response is stored unless its request has "store": false.',
    },
  },
} as const

/** Objects of one page. */
const pageLimit = 50

/** The stored objects, loaded page by page while one scrolls. */
function StoredTable({ kind, filter }: { readonly kind: StoredKind; readonly filter: StoredFilter }) {
  const api = useApi()
  const pages = usePages(
    async (after, signal): Promise<ListPage<Summary>> => {
      const { path, summarize } = lists[kind]
      const query = { ...listParameters(filter), limit: pageLimit, after }
      const page = await api.get<ListPage<never>>(path, { query, signal })
      return { ...page, data: page.data.map(summarize) }
    },
    [api, kind, filter],
  )
  const { items, loading, failure, hasMore, loadMore } = pages
  if (items.length === 0 && failure === undefined)
    return loading ? <Loading lines={12} /> : <NothingStored kind={kind} filter={filter} />
  return (
    <>
      {items.length > 0 && (
        <Table
          label={lists[kind].label}
          columns={columns}
          rows={items}
          rowKey={({ id }) => id}
          rowHref={({ id }) => routeHash('stored', [kind, id])}
          onNearEnd={failure === undefined ? loadMore : undefined}
        />
      )}
      {failure && <Failure failure={failure} retry={loadMore} />}
      <p class="quiet number" role="status">
        {formatCount(items.length)} {hasMore ? 'loaded. More are loaded when you scroll.' : 'in all.'}
      </p>
    </>
  )
}

const columns: readonly Column<Summary>[] = [
  {
    id: 'preview',
    header: 'Output',
    render: ({ preview, id }) => (preview === '' ? <code>{id}</code> : <Foreign text={preview} />),
  },
  { id: 'status', header: 'Status', render: ({ status }) => <StatusBadge status={status} /> },
  { id: 'model', header: 'Model', render: ({ model }) => <Foreign text={model} /> },
  { id: 'created', header: 'Created', render: ({ created }) => <Time at={created} /> },
  {
    id: 'tokens',
    header: 'Tokens',
    align: 'right',
    render: ({ tokens }) => (tokens === null ? '–' : formatCount(tokens)),
  },
  {
    id: 'metadata',
    header: 'Metadata',
    render: ({ metadata }) => <bdi class="quiet">{visibleText(metadata)}</bdi>,
  },
]

function NothingStored({ kind, filter }: { readonly kind: StoredKind; readonly filter: StoredFilter }) {
  const { model, status, metadata } = filter
  if (model !== '' || status !== '' || Object.keys(metadata).length > 0)
    return <Empty title="Nothing matches the filter" text="Remove a filter to see more." />
  return <Empty {...lists[kind].empty} />
}
