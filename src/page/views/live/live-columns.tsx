import { Badge, ForeignLink, IdLink, Money, None } from '../../components/facts.tsx'
import { formatCount, formatDuration, visibleText } from '../../components/format.ts'
import { type Column, column } from '../../components/table-columns.tsx'
import { routeHash } from '../../route.ts'
import { elapsedOf, hasFailed, type LiveEnd, type LiveRequest } from './live-feed.ts'

/** The names of organizations by ID. */
export type OrganizationNames = ReadonlyMap<string, string>

/** The columns of the live requests, each with a fixed width: the rows change too often for the columns to move. */
export function liveColumns(names: OrganizationNames): readonly Column<LiveRequest>[] {
  return [
    column('state', 'State', (request) => <State request={request} />, { width: '200px' }),
    textColumn('model', 'Model', '200px'),
    column('organization', 'Organization', ({ organization: id }) => organizationLink(id, names), {
      width: '130px',
    }),
    numberColumn('elapsed', 'Elapsed', '84px', (request) => formatDuration(elapsedOf(request))),
    numberColumn('first', 'First token', '100px', ({ firstTokenMs }) =>
      firstTokenMs === null ? dash() : formatDuration(firstTokenMs),
    ),
    tokenColumn('input', 'Input', (end) => end.input_tokens),
    tokenColumn('output', 'Output', (end) => end.output_tokens),
    numberColumn('cost', 'Cost', '100px', ({ end }) =>
      end?.cost_usd == null ? dash() : <Money usd={end.cost_usd} />,
    ),
    column('key', 'Key', ({ key }) => (key === null ? dash() : <code>{visibleText(key)}</code>), {
      width: '140px',
    }),
    textColumn('provider', 'Provider', '120px'),
    textColumn('api', 'API', '100px'),
    column('request', 'Request', requestId, { width: '300px' }),
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

function organizationLink(id: string | null, names: OrganizationNames) {
  if (id === null) return dash()
  return <ForeignLink text={names.get(id) ?? id} href={routeHash('organizations', [id])} />
}

/** A finished request has a place of its own. */
function requestId({ request, end }: LiveRequest) {
  if (end === null) return <code>{visibleText(request)}</code>
  return <IdLink id={request} href={routeHash('requests', [request])} />
}

function textColumn(id: 'model' | 'provider' | 'api', header: string, width: string): Column<LiveRequest> {
  const render = ({ [id]: text }: LiveRequest) => (text === null ? dash() : <TitledText text={text} />)
  return column(id, header, render, { width })
}

function dash() {
  return <None text="–" />
}

/** Of a text that is cut off, the title has the whole. */
function TitledText({ text }: { readonly text: string }) {
  return <bdi title={visibleText(text)}>{visibleText(text)}</bdi>
}

function numberColumn(
  id: string,
  header: string,
  width: string,
  render: Column<LiveRequest>['render'],
): Column<LiveRequest> {
  return column(id, header, render, { width, align: 'right' })
}

function tokenColumn(id: string, header: string, count: (end: LiveEnd) => number): Column<LiveRequest> {
  return numberColumn(id, header, '70px', ({ end }) => (end === null ? dash() : formatCount(count(end))))
}
