import { Badge } from '../../components/badge.tsx'
import { formatCount, formatDuration } from '../../components/format.ts'
import { Money } from '../../components/money.tsx'
import type { Column } from '../../components/table.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { routeHash } from '../../routing/route.ts'
import { elapsedOf, hasFailed, type LiveRequest } from './live-request.ts'

/** The names of organizations by ID. */
export type OrganizationNames = ReadonlyMap<string, string>

/** The columns of the live requests, each with a fixed width: the rows change too often for the columns to move. */
export function liveColumns(names: OrganizationNames): readonly Column<LiveRequest>[] {
  return [
    { id: 'state', header: 'State', width: '210px', render: (request) => <State request={request} /> },
    { id: 'model', header: 'Model', width: '230px', render: ({ model }) => <Foreign text={model} /> },
    organizationColumn(names),
    {
      id: 'elapsed',
      header: 'Elapsed',
      width: '96px',
      align: 'right',
      render: (request) => formatDuration(elapsedOf(request)),
    },
    {
      id: 'first',
      header: 'First token',
      width: '104px',
      align: 'right',
      render: ({ firstTokenMs }) => (firstTokenMs === null ? <None /> : formatDuration(firstTokenMs)),
    },
    tokenColumn('input', 'Input', (end) => end.inputTokens),
    tokenColumn('output', 'Output', (end) => end.outputTokens),
    {
      id: 'cost',
      header: 'Cost',
      width: '96px',
      align: 'right',
      render: ({ end }) => (end?.costUsd == null ? <None /> : <Money usd={end.costUsd} />),
    },
    ...nameColumns,
  ]
}

const nameColumns: readonly Column<LiveRequest>[] = [
  { id: 'key', header: 'Key', width: '140px', render: ({ key }) => <Code text={key} /> },
  {
    id: 'provider',
    header: 'Provider',
    width: '120px',
    render: ({ provider }) => <Foreign text={provider} />,
  },
  { id: 'api', header: 'API', width: '100px', render: ({ api }) => <Foreign text={api} /> },
  { id: 'request', header: 'Request', width: '300px', render: ({ request }) => <Code text={request} /> },
]

function organizationColumn(names: OrganizationNames): Column<LiveRequest> {
  return {
    id: 'organization',
    header: 'Organization',
    width: '150px',
    render: ({ organization: id }) => <OrganizationName id={id} names={names} />,
  }
}

function tokenColumn(
  id: string,
  header: string,
  count: (end: NonNullable<LiveRequest['end']>) => number,
): Column<LiveRequest> {
  return {
    id,
    header,
    width: '80px',
    align: 'right',
    render: ({ end }) => (end === null ? <None /> : formatCount(count(end))),
  }
}

function State({ request }: { readonly request: LiveRequest }) {
  const { end, firstTokenMs } = request
  if (end === null) return <Badge tone="accent">{firstTokenMs === null ? 'waiting' : 'streaming'}</Badge>
  const { status, error } = end
  return (
    <span class="finished">
      <Badge tone={hasFailed(request) ? 'bad' : 'neutral'}>{status}</Badge>{' '}
      {error !== null && <bdi title={visibleText(error)}>{visibleText(error)}</bdi>}
    </span>
  )
}

function OrganizationName({ id, names }: { readonly id: string | null; readonly names: OrganizationNames }) {
  if (id === null) return <None />
  return (
    <a href={routeHash('organizations', [id])}>
      <bdi>{visibleText(names.get(id) ?? id)}</bdi>
    </a>
  )
}

function Foreign({ text }: { readonly text: string | null }) {
  if (text === null) return <None />
  return <bdi title={visibleText(text)}>{visibleText(text)}</bdi>
}

function Code({ text }: { readonly text: string | null }) {
  return text === null ? <None /> : <code>{visibleText(text)}</code>
}

function None() {
  return <span class="quiet">–</span>
}
