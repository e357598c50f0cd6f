import type { ComponentChildren } from 'preact'
import { usePages } from '../../api/use-pages.ts'
import type { ListPage } from '../../api/use-pages.ts'
import { Badge } from '../../components/badge.tsx'
import { formatCount } from '../../components/format.ts'
import { Empty, Failure, Loading } from '../../components/states.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { routeHash } from '../../routing/route.ts'
import { useApi } from '../../session/session.tsx'
import { listParameters, type StoredFilter } from './stored-filter.ts'
import { type StoredKind, type Summary, summarizeCompletion, summarizeResponse } from './summary.ts'

const lists = {
  completions: { path: '/v1/chat/completions', summarize: summarizeCompletion },
  responses: { path: '/v1/responses', summarize: summarizeResponse },
} as const

/** Objects of one page. */
const pageLimit = 50

/** What is stored, loaded page by page while one scrolls. */
export function StoredTable({ kind, filter }: { readonly kind: StoredKind; readonly filter: StoredFilter }) {
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
          label={kind === 'completions' ? 'Stored completions' : 'Stored responses'}
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
    render: ({ preview, id }) => (preview === '' ? <code>{id}</code> : <bdi>{visibleText(preview)}</bdi>),
  },
  { id: 'status', header: 'Status', render: ({ status }) => <StatusBadge status={status} /> },
  { id: 'model', header: 'Model', render: ({ model }) => <bdi>{visibleText(model)}</bdi> },
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

const tones: Readonly<Record<string, 'good' | 'bad' | 'warning' | 'accent'>> = {
  stop: 'good',
  completed: 'good',
  failed: 'bad',
  content_filter: 'bad',
  length: 'warning',
  incomplete: 'warning',
  in_progress: 'accent',
  queued: 'accent',
}

/** The finish reason of a completion, or the status of a response. */
export function StatusBadge({ status }: { readonly status: string }): ComponentChildren {
  if (status === '') return '–'
  const tone = tones[status]
  return <Badge {...(tone && { tone })}>{visibleText(status.replaceAll('_', ' '))}</Badge>
}

function NothingStored({ kind, filter }: { readonly kind: StoredKind; readonly filter: StoredFilter }) {
  const { model, status, metadata } = filter
  if (model !== '' || status !== '' || Object.keys(metadata).length > 0)
    return (
      <Empty title="Nothing matches the filter">
        <p>Remove a filter to see more.</p>
      </Empty>
    )
  return (
    <Empty title={kind === 'completions' ? 'No completions are stored' : 'No responses are stored'}>
      <p>
        {kind === 'completions'
          ? 'A chat completion is stored if its request has "store": true.'
          : 'A response is stored unless its request has "store": false.'}
      </p>
    </Empty>
  )
}
