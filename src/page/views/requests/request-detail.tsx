import type { ComponentChildren } from 'preact'
import { useResource } from '../../api/resource.ts'
import { CopyButton } from '../../components/button.tsx'
import { Badge, Badges, Facts, Foreign, type LabelledFact, Money, Time } from '../../components/facts.tsx'
import { formatCount, formatDuration, visibleText } from '../../components/format.ts'
import { Table } from '../../components/table.tsx'
import type { Column } from '../../components/table-columns.tsx'
import { Loaded, ViewHeader } from '../../components/view.tsx'
import { routeHash } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { type Attempt, type FinishedRequest, hasFailed } from './request.ts'
import { RequestContent } from './request-content.tsx'

/** What happened to one request: its error, its attempts, its times, its tokens and its cost. */
export function RequestDetail({ id }: { readonly id: string }) {
  const admin = useAdminApi()
  const request = useResource(
    (signal) => admin.get<FinishedRequest>(`/admin/requests/${encodeURIComponent(id)}`, { signal }),
    [admin, id],
  )
  return (
    <>
      <ViewHeader title="Request" back={{ href: routeHash('requests'), label: 'Requests' }} />
      <p class="stored-id">
        <code>{visibleText(id)}</code>
        <CopyButton text={id} label="Copy the ID" iconOnly />
      </p>
      <Loaded resource={request} lines={12}>
        {(loaded) => <RequestView request={loaded} />}
      </Loaded>
    </>
  )
}

/** The status of a request, and the code of its error. */
export function RequestStatus({ request }: { readonly request: FinishedRequest }) {
  const { status, error } = request
  return (
    <span class="finished">
      <Badge tone={hasFailed(request) ? 'bad' : 'neutral'}>{status}</Badge>{' '}
      {error !== null && <Foreign text={error} />}
    </span>
  )
}

function RequestView({ request }: { readonly request: FinishedRequest }) {
  const { attempts, warnings } = request
  return (
    <div class="stack">
      <ErrorSentence request={request} />
      <Facts facts={[...callerFacts(request), ...callFacts(request)]} />
      <Facts facts={figureFacts(request)} />
      <section class="stack" aria-labelledby="attempts">
        <h2 id="attempts">Attempts</h2>
        <Table
          label="Calls to providers"
          columns={attemptColumns}
          rows={attempts}
          rowKey={(attempt) => String(attempts.indexOf(attempt))}
          empty={<p class="quiet">The request was not sent to a provider.</p>}
        />
      </section>
      {warnings.length > 0 && <Warnings warnings={warnings} />}
      <RequestContent id={request.id} />
    </div>
  )
}

function ErrorSentence({ request }: { readonly request: FinishedRequest }) {
  const { message, provider_message, param } = request
  if (message === null) return null
  return (
    <div class="failure">
      <p class="failure-message">
        <Foreign text={message} />
      </p>
      {provider_message !== null && (
        <p>
          Message of the provider: <Foreign text={provider_message} />
        </p>
      )}
      {param !== null && (
        <p>
          Parameter <code>{visibleText(param)}</code>
        </p>
      )}
    </div>
  )
}

function Warnings({ warnings }: { readonly warnings: readonly string[] }) {
  return (
    <section class="stack" aria-labelledby="warnings">
      <h2 id="warnings">Warnings</h2>
      <ul>
        {warnings.map((warning) => (
          <li key={warning}>
            <Foreign text={warning} />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Leads to the other requests with the same value. */
function Same(props: {
  readonly name: string
  readonly value: string
  readonly children?: ComponentChildren
}) {
  return (
    <a href={routeHash('requests', [], { [props.name]: props.value })}>
      {props.children ?? <Foreign text={props.value} />}
    </a>
  )
}

function callerFacts(request: FinishedRequest): readonly LabelledFact[] {
  const { created_at, organization, organization_id, key, key_name, user, session, tags } = request
  const { project, project_name } = request
  return [
    ['Status', <RequestStatus request={request} />],
    ['Time', <Time at={created_at} format="second" />],
    [
      'Organization',
      <a href={routeHash('organizations', [organization_id])}>
        <Foreign text={organization} />
      </a>,
    ],
    ...(project === null
      ? []
      : [
          [
            'Project',
            <Same name="project" value={project}>
              <Foreign text={project_name ?? project} />
            </Same>,
          ] as const,
        ]),
    [
      'API key',
      <a href={routeHash('keys', [key])}>
        <Foreign text={key_name ?? key} />
      </a>,
    ],
    ...(user === null ? [] : [['User', <Same name="user" value={user} />] as const]),
    ...(session === null ? [] : [['Session', <Same name="session" value={session} />] as const]),
    ...(tags === null || tags.length === 0 ? [] : [['Tags', <Badges texts={tags} />] as const]),
  ]
}

function callFacts({
  api,
  stream,
  model,
  provider,
  upstream_model,
}: FinishedRequest): readonly LabelledFact[] {
  return [
    ['API', `${api}${stream ? ', streamed' : ''}`],
    ['Model', model === null ? '–' : <Same name="model" value={model} />],
    ['Route', provider === null ? '–' : <Foreign text={`${provider}/${upstream_model ?? '?'}`} />],
  ]
}

function figureFacts(request: FinishedRequest): readonly LabelledFact[] {
  const { input_tokens, cached_tokens, output_tokens, reasoning_tokens, estimated } = request
  const { cost_usd, latency_ms, first_token_ms } = request
  return [
    ['Input tokens', withPart(input_tokens, cached_tokens, 'cached')],
    ['Output tokens', withPart(output_tokens, reasoning_tokens, 'of reasoning')],
    ...(estimated ? [['Tokens are', 'an estimate'] as const] : []),
    ['Cost', cost_usd === null ? 'unknown' : <Money usd={cost_usd} decimals={6} />],
    ['Took', durationText(latency_ms)],
    ...(first_token_ms === null ? [] : [['First token', durationText(first_token_ms)] as const]),
  ]
}

function withPart(count: number, part: number, name: string): string {
  return part > 0 ? `${formatCount(count)} (${formatCount(part)} ${name})` : formatCount(count)
}

function durationText(milliseconds: number | null): string {
  return milliseconds === null ? '–' : formatDuration(milliseconds)
}

const attemptColumns: readonly Column<Attempt>[] = [
  {
    id: 'route',
    header: 'Route',
    render: ({ provider, model }) => <Foreign text={`${provider}/${model ?? '?'}`} />,
  },
  {
    id: 'outcome',
    header: 'Outcome',
    render: ({ outcome }) => <Badge tone={outcome === 'ok' ? 'good' : 'bad'}>{visibleText(outcome)}</Badge>,
  },
  { id: 'took', header: 'Took', align: 'right', render: ({ ms }) => durationText(ms) },
  { id: 'message', header: 'Message', render: ({ message }) => <Sentence text={message} /> },
  {
    id: 'provider_message',
    header: 'Message of the provider',
    render: ({ provider_message }) => <Sentence text={provider_message} />,
  },
]

function Sentence({ text = '' }: { readonly text?: string | undefined }) {
  return (
    <span class="wraps">
      <Foreign text={text} />
    </span>
  )
}
