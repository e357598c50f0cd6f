import { Badge, Foreign, Money } from '../../components/facts.tsx'
import { formatCount, formatDuration, visibleText } from '../../components/format.ts'
import type { Column } from '../../components/table-columns.tsx'
import { routeHash } from '../../route.ts'
import { elapsedOf, hasFailed, type LiveEnd, type LiveRequest } from './live-feed.ts'

/** The names of organizations by ID. */
export type OrganizationNames = ReadonlyMap<string, string>

/** The columns of the live requests, each with a fixed width: the rows change too often for the columns to move. */
export function liveColumns(names: OrganizationNames): readonly Column<LiveRequest>[] {
  return [
    { id: 'state', header: 'State', width: '200px', render: (request) => <State request={request} /> },
    textColumn('model', 'Model', '200px'),
    {
      id: 'organization',
      header: 'Organization',
      width: '130px',
      render: ({ organization: id }) => <OrganizationLink id={id} names={names} />,
    },
    numberColumn('elapsed', 'Elapsed', '84px', (request) => formatDuration(elapsedOf(request))),
    numberColumn('first', 'First token', '100px', ({ firstTokenMs }) =>
      firstTokenMs === null ? <None /> : formatDuration(firstTokenMs),
    ),
    tokenColumn('input', 'Input', (end) => end.inputTokens),
    tokenColumn('output', 'Output', (end) => end.outputTokens),
    numberColumn('cost', 'Cost', '84px', ({ end }) =>
      end?.costUsd == null ? <None /> : <Money usd={end.costUsd} />,
    ),
    codeColumn('key', 'Key', '140px'),
    textColumn('provider', 'Provider', '120px'),
    textColumn('api', 'API', '100px'),
    {
      id: 'request',
      header: 'Request',
      width: '300px',
      render: ({ request, end }) => {
        const id = <code>{visibleText(request)}</code>
        return end === null ? id : <a href={routeHash('requests', [request])}>{id}</a>
      },
    },
  ]
}

function State({ request }: { readonly request: LiveRequest }) {
  const { end } = request
  if (end === null) return <Badge tone={request.queued ? 'warning' : 'accent'}>{stateOf(request)}</Badge>
  const { status, error } = end
  return (
    <span class="finished">
      <Badge tone={hasFailed(request) ? 'bad' : 'neutral'}>{status}</Badge>{' '}
      {error !== null && <TitledText text={error} />}
    </span>
  )
}

function stateOf({ queued, firstTokenMs }: LiveRequest): string {
  if (queued) return 'queued'
  return firstTokenMs === null ? 'waiting' : 'streaming'
}

function OrganizationLink({ id, names }: { readonly id: string | null; readonly names: OrganizationNames }) {
  if (id === null) return <None />
  return (
    <a href={routeHash('organizations', [id])}>
      <Foreign text={names.get(id) ?? id} />
    </a>
  )
}

function textColumn(id: 'model' | 'provider' | 'api', header: string, width: string): Column<LiveRequest> {
  const render = ({ [id]: text }: LiveRequest) => (text === null ? <None /> : <TitledText text={text} />)
  return { id, header, width, render }
}

function None() {
  return <span class="quiet">–</span>
}

/** Of a text that is cut off, the title has the whole. */
function TitledText({ text }: { readonly text: string }) {
  return <bdi title={visibleText(text)}>{visibleText(text)}</bdi>
}

function codeColumn(id: 'key', header: string, width: string): Column<LiveRequest> {
  const render = ({ [id]: text }: LiveRequest) =>
    text === null ? <None /> : <code>{visibleText(text)}</code>
  return { id, header, width, render }
}

function numberColumn(
  id: string,
  header: string,
  width: string,
  render: Column<LiveRequest>['render'],
): Column<LiveRequest> {
  return { id, header, width, align: 'right', render }
}

function tokenColumn(id: string, header: string, count: (end: LiveEnd) => number): Column<LiveRequest> {
  return numberColumn(id, header, '70px', ({ end }) => (end === null ? <None /> : formatCount(count(end))))
}
