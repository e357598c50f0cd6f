import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Organization } from '../../api/objects.ts'
import { Button, CodeBlock } from '../../components/button.tsx'
import { curlCommand } from '../../components/curl.ts'
import { Badge, type Tone } from '../../components/facts.tsx'
import { SearchField, SelectField } from '../../components/field.tsx'
import { formatCount } from '../../components/format.ts'
import { Table } from '../../components/table.tsx'
import { Empty, Failure, ViewHeader } from '../../components/view.tsx'
import { filterIn, type PageRoute, replaceQuery } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { useShortcut } from '../../shortcuts.tsx'
import { organizationPath } from '../organizations/organization.tsx'
import { liveColumns, type OrganizationNames } from './live-columns.tsx'
import { hasFailed, type LiveRequest } from './live-feed.ts'
import { type LiveConnection, type LiveView, useLive } from './use-live.ts'

/** The live view: the requests to models while they happen, for the operator. */
export function Live({ query }: PageRoute) {
  const [paused, setPaused] = useState(false)
  const live = useLive(useAdminApi(), paused)
  const toggle = () => setPaused(!paused)
  useShortcut('p', 'Pause or resume the live requests', toggle)
  const { connection } = live
  const { tone, label } = describe(connection, paused)
  return (
    <>
      <ViewHeader title="Live requests">
        <span role="status">
          <Badge tone={tone}>{label}</Badge>
        </span>
        <Button
          label={paused ? 'Resume' : 'Pause'}
          icon={paused ? 'playground' : 'stop'}
          shortcut="p"
          onClick={toggle}
        />
      </ViewHeader>
      <div class="stack">
        {connection.type === 'failed' && <Failure failure={connection.failure} retry={live.retry} />}
        <Requests live={live} query={query} />
      </div>
    </>
  )
}

/** Says whether the list is live, and if not, why. */
function describe(
  connection: LiveConnection,
  paused: boolean,
): { readonly tone: Tone; readonly label: string } {
  switch (connection.type) {
    case 'connecting':
      return { tone: 'neutral', label: 'connecting' }
    case 'waiting':
      return { tone: 'warning', label: `disconnected, next attempt in ${connection.seconds} s` }
    case 'failed':
      return { tone: 'bad', label: 'disconnected' }
    case 'connected':
      return paused ? { tone: 'warning', label: 'paused' } : { tone: 'good', label: 'live' }
  }
}

function Requests({ live, query }: { readonly live: LiveView; readonly query: URLSearchParams }) {
  const { filter } = filterIn(query, noFilter)
  const names = useOrganizationNames(live.rows)
  const columns = useMemo(() => liveColumns(names), [names])
  return (
    <>
      <Filters query={query} />
      <p class="quiet">
        <span class="number">{formatCount(live.open)}</span> in progress,{' '}
        <span class="number">{formatCount(live.rows.length - live.open)}</span> finished
        {live.dropped > 0 && `, ${formatCount(live.dropped)} events dropped because they were too many`}
      </p>
      <div class="live">
        <Table
          label="Live requests"
          columns={columns}
          rows={filterRequests(live.rows, filter, names)}
          rowKey={({ sequence }) => String(sequence)}
          empty={
            live.rows.length === 0 ? (
              <Empty
                title="No requests yet"
                text="Requests to models appear here while they happen. Nothing of their prompts is shown. To send one:"
              >
                <CodeBlock code={echoCommand()} label="command" />
              </Empty>
            ) : (
              <Empty title="No request matches">
                <Button label="Show all requests" icon="close" onClick={() => replaceQuery({})} />
              </Empty>
            )
          }
        />
      </div>
    </>
  )
}

/** The events have the IDs only: the names of those in sight are loaded one after the other, and the IDs shown until then. */
function useOrganizationNames(rows: readonly LiveRequest[]): OrganizationNames {
  const admin = useAdminApi()
  const [names, setNames] = useState<OrganizationNames>(new Map())
  const unknown = rows.find(({ organization }) => organization !== null && !names.has(organization))
  const id = unknown?.organization ?? undefined
  useEffect(() => {
    if (id === undefined) return undefined
    const controller = new AbortController()
    const { signal } = controller
    const keep = (name: string) => !signal.aborted && setNames((current) => new Map(current).set(id, name))
    // That of a deleted organization is not known.
    admin.get<Organization>(organizationPath(id), { signal }).then(
      ({ name }) => keep(name),
      () => keep(id),
    )
    return () => controller.abort()
  }, [admin, id])
  return names
}

function echoCommand(): string {
  const messages = [{ role: 'user', content: 'Hello' }]
  return curlCommand('/v1/chat/completions', { model: 'weir/echo', messages })
}

const states = [
  { value: 'all', label: 'All' },
  { value: 'open', label: 'In progress' },
  { value: 'failed', label: 'Failed' },
] as const

/** The requests that are shown. */
const noFilter = { q: '', state: 'all' }

type Filter = typeof noFilter

function Filters({ query }: Pick<PageRoute, 'query'>) {
  const { filter, change } = filterIn(query, noFilter)
  return (
    <div class="key-filters">
      <SearchField
        what="live requests"
        placeholder="Model, organization, key, error"
        value={filter.q}
        onInput={(q) => change({ q })}
      />
      <SelectField
        label="State"
        value={states.find(({ value }) => value === filter.state)?.value ?? 'all'}
        options={states}
        onChange={(state) => change({ state })}
      />
    </div>
  )
}

/** Returns the requests that match: every word of the search occurs in one of the names. */
function filterRequests(
  rows: readonly LiveRequest[],
  { q, state }: Filter,
  names: OrganizationNames,
): readonly LiveRequest[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0 && state === 'all') return rows
  return rows.filter((row) => {
    if (state === 'open' && row.end !== null) return false
    if (state === 'failed' && !hasFailed(row)) return false
    const text = searchText(row, names)
    return words.every((word) => text.includes(word))
  })
}

function searchText(row: LiveRequest, names: OrganizationNames): string {
  const { model, organization, key, api, provider, request, end } = row
  const name = names.get(organization ?? '')
  return [model, organization, name, key, api, provider, request, end?.status, end?.error]
    .join(' ')
    .toLowerCase()
}
