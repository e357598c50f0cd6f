import { type ListPage, usePages } from '../../api/pages.ts'
import { Button, CodeBlock } from '../../components/button.tsx'
import { curlCommand } from '../../components/curl.ts'
import { Foreign, Time } from '../../components/facts.tsx'
import { formatCount, visibleText } from '../../components/format.ts'
import { PagedTable } from '../../components/paged-table.tsx'
import { type Column, column } from '../../components/table-columns.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { Empty, ViewHeader } from '../../components/view.tsx'
import { filterIn, type PageRoute, replaceQuery, routeHash } from '../../route.ts'
import { useApi } from '../../session.tsx'
import { CompletionDetail } from './completion-detail.tsx'
import { ResponseDetail } from './response-detail.tsx'
import { FilterForm, listParameters, noFilter, type StoredFilter } from './stored-filter.tsx'
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
  const { filter, change } = filterIn(query, noFilter)
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
          <FilterForm kind={kind} filter={filter} change={change} />
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
      text: 'A chat completion is stored if its request has "store": true:',
      command: () =>
        curlCommand('/v1/chat/completions', {
          model: 'weir/echo',
          store: true,
          messages: [{ role: 'user', content: 'Hello' }],
        }),
    },
  },
  responses: {
    path: '/v1/responses',
    summarize: summarizeResponse,
    label: 'Stored responses',
    empty: {
      title: 'No responses are stored',
      text: 'A response is stored unless its request has "store": false:',
      command: () => curlCommand('/v1/responses', { model: 'weir/echo', input: 'Hello' }),
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
    [api, kind, JSON.stringify(filter)],
  )
  return (
    <PagedTable
      label={lists[kind].label}
      columns={columns}
      pages={pages}
      rowKey={({ id }) => id}
      rowHref={({ id }) => routeHash('stored', [kind, id])}
      empty={<NothingStored kind={kind} filter={filter} />}
    />
  )
}

const columns: readonly Column<Summary>[] = [
  column('preview', 'Output', ({ preview, id }) =>
    preview === '' ? <code>{id}</code> : <Foreign text={preview} />,
  ),
  column('status', 'Status', ({ status }) => <StatusBadge status={status} />),
  column('model', 'Model', ({ model }) => <Foreign text={model} />),
  column('created', 'Created', ({ created }) => <Time at={created} />),
  column('tokens', 'Tokens', ({ tokens }) => (tokens === null ? '–' : formatCount(tokens)), {
    align: 'right',
  }),
  column('metadata', 'Metadata', ({ metadata }) => <bdi class="quiet">{visibleText(metadata)}</bdi>),
]

function NothingStored({ kind, filter }: { readonly kind: StoredKind; readonly filter: StoredFilter }) {
  const { order, ...parameters } = listParameters(filter)
  const { title, text, command } = lists[kind].empty
  if (Object.values(parameters).some((value) => value !== undefined))
    return (
      <Empty title="Nothing matches the filter">
        <Button
          label="Remove the filters"
          icon="close"
          onClick={() => replaceQuery({ order: order === 'asc' ? order : undefined })}
        />
      </Empty>
    )
  return (
    <Empty title={title} text={text}>
      <CodeBlock code={command()} label="command" />
    </Empty>
  )
}
