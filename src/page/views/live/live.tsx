import { useMemo, useState } from 'preact/hooks'
import { useResource } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { formatCount } from '../../components/format.ts'
import { Empty, Failure } from '../../components/states.tsx'
import { Table } from '../../components/table.tsx'
import { ViewHeader } from '../../components/view-header.tsx'
import { useShortcut } from '../../keyboard/shortcuts.tsx'
import { replaceQuery } from '../../routing/route.ts'
import { useAdminApi } from '../../session/session.tsx'
import { loadOrganizations } from '../organizations/organization.ts'
import type { View, ViewProps } from '../view.ts'
import { ConnectionBadge } from './connection-badge.tsx'
import { liveColumns, type OrganizationNames } from './live-columns.tsx'
import { filterRequests, type LiveFilter, liveStates, readFilter } from './live-filter.ts'
import { type LiveView, useLive } from './use-live.ts'

function Live({ query }: ViewProps) {
  const admin = useAdminApi()
  const [paused, setPaused] = useState(false)
  const live = useLive(admin, paused)
  const toggle = () => setPaused(!paused)
  useShortcut('p', 'Pause or resume the live requests', toggle)
  const { connection } = live
  return (
    <>
      <ViewHeader title="Live requests">
        <ConnectionBadge connection={connection} paused={paused} />
        <Button
          label={paused ? 'Resume' : 'Pause'}
          icon={paused ? 'playground' : 'stop'}
          shortcut="p"
          onClick={toggle}
        />
      </ViewHeader>
      <div class="stack">
        {connection.type === 'failed' && <Failure failure={connection.failure} retry={live.retry} />}
        <Requests live={live} filter={readFilter(query)} />
      </div>
    </>
  )
}

function Requests({ live, filter }: { readonly live: LiveView; readonly filter: LiveFilter }) {
  const names = useOrganizationNames()
  const columns = useMemo(() => liveColumns(names), [names])
  const found = filterRequests(live.rows, filter, names)
  return (
    <>
      <Filters filter={filter} />
      <p class="quiet">
        <span class="number">{formatCount(live.open)}</span> in progress,{' '}
        <span class="number">{formatCount(live.rows.length - live.open)}</span> finished
        {live.dropped > 0 && `, ${formatCount(live.dropped)} events dropped because they were too many`}
      </p>
      <div class="live">
        <Table
          label="Live requests"
          columns={columns}
          rows={found}
          rowKey={({ sequence }) => String(sequence)}
          empty={<NoRequests none={live.rows.length === 0} />}
        />
      </div>
    </>
  )
}

/** The events have the IDs only. Without the names, the IDs are shown. */
function useOrganizationNames(): OrganizationNames {
  const admin = useAdminApi()
  const { value } = useResource((signal) => loadOrganizations(admin, signal), [admin])
  return useMemo(() => new Map(value?.map(({ id, name }) => [id, name])), [value])
}

function Filters({ filter }: { readonly filter: LiveFilter }) {
  useShortcut('/', 'Search the live requests', () =>
    document.querySelector<HTMLInputElement>('.key-filters input')?.focus(),
  )
  const change = (changed: Partial<LiveFilter>) => {
    const { search, state } = { ...filter, ...changed }
    replaceQuery({ q: search || undefined, state: state === 'all' ? undefined : state })
  }
  return (
    <div class="key-filters">
      <TextField
        label="Search"
        type="search"
        placeholder="Model, organization, key, error"
        value={filter.search}
        onInput={(search) => change({ search })}
      />
      <SelectField
        label="State"
        value={filter.state}
        options={liveStates}
        onChange={(state) => change({ state })}
      />
    </div>
  )
}

function NoRequests({ none }: { readonly none: boolean }) {
  return none ? (
    <Empty title="No requests yet">
      <p>Requests to models appear here while they happen. Nothing of their prompts is shown.</p>
    </Empty>
  ) : (
    <Empty title="No request matches">
      <p>Change the search or the state.</p>
    </Empty>
  )
}

/** The live view: the requests to models while they happen, for the operator. */
export const live: View = {
  id: 'live',
  title: 'Live requests',
  icon: 'live',
  section: 'operator',
  needs: 'adminKey',
  shortcut: 'i',
  component: Live,
}
