import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { ApiClient } from '../../api/client.ts'
import { loadAll } from '../../api/pages.ts'
import { Button } from '../../components/button.tsx'
import { Badge, Foreign, Time } from '../../components/facts.tsx'
import { visibleText } from '../../components/format.ts'
import { Table } from '../../components/table.tsx'
import { type Column, dayColumn } from '../../components/table-columns.tsx'
import { routeHash } from '../../route.ts'

/** A key without its secret, as `GET /admin/keys` returns it. */
export type ApiKey = {
  readonly id: string
  readonly name: string
  /** Null if the organization is deleted. */
  readonly organization: string | null
  readonly last4: string
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly replaced_by: string | null
}

/** A new key with its secret, which only the reply to its creation has. */
export type NewApiKey = Pick<ApiKey, 'id' | 'name' | 'organization' | 'expires_at'> & { readonly key: string }

/** Whether a key works: a replaced one works until it expires. */
type KeyState = 'active' | 'replaced' | 'expired' | 'revoked'

/** Returns the state of a key now. */
export function stateOf({ revoked_at, expires_at, replaced_by }: ApiKey): KeyState {
  if (revoked_at !== null) return 'revoked'
  if (expires_at !== null && Date.parse(expires_at) <= Date.now()) return 'expired'
  return replaced_by === null ? 'active' : 'replaced'
}

/** Whether requests with a key in this state are accepted. */
export function works(state: KeyState): boolean {
  return state === 'active' || state === 'replaced'
}

/** Loads the keys of all organizations. */
export function loadKeys(client: ApiClient, signal?: AbortSignal): Promise<readonly ApiKey[]> {
  return loadAll(client, '/admin/keys', signal)
}

/** The actions on a key of the list. */
export type KeyActions = {
  readonly onRotate: (key: ApiKey) => void
  readonly onRevoke: (key: ApiKey) => void
}

/** A table of keys, of one organization or of all. */
export function KeyTable(props: {
  readonly keys: readonly ApiKey[]
  readonly everyone: boolean
  readonly actions: KeyActions
  readonly empty: ComponentChildren
}) {
  const { keys, everyone, actions } = props
  const columns = useMemo(() => keyColumns(actions, everyone), [everyone])
  return (
    <Table
      label="API keys"
      columns={columns}
      rows={keys}
      rowKey={({ id }) => id}
      initialSort={{ column: 'created', direction: 'descending' }}
      empty={props.empty}
    />
  )
}

const tones = { active: 'good', replaced: 'warning', expired: 'neutral', revoked: 'bad' } as const

function keyColumns(actions: KeyActions, everyone: boolean): readonly Column<ApiKey>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      render: ({ name }) => (
        <bdi class="clipped" title={visibleText(name)}>
          {visibleText(name)}
        </bdi>
      ),
      sortValue: ({ name }) => name,
    },
    ...(everyone ? [organizationColumn] : []),
    {
      id: 'key',
      header: 'Key',
      render: ({ id, last4 }) => <code>{`sk-weir-${id}-…${last4}`}</code>,
      sortValue: ({ id }) => id,
    },
    {
      id: 'state',
      header: 'State',
      render: (key) => <Badge tone={tones[stateOf(key)]}>{stateOf(key)}</Badge>,
      sortValue: (key) => stateOf(key),
    },
    dayColumn('created', 'Created', ({ created_at }) => created_at),
    {
      id: 'expires',
      header: 'Expires',
      render: ({ expires_at }) =>
        expires_at === null ? <span class="quiet">never</span> : <Time at={expires_at} format="day" />,
      sortValue: ({ expires_at }) => expires_at,
    },
    { id: 'actions', header: 'Actions', align: 'right', render: (key) => <Actions of={key} {...actions} /> },
  ]
}

/** The column of the organization, in a list of all keys. */
const organizationColumn: Column<ApiKey> = {
  id: 'organization',
  header: 'Organization',
  render: ({ organization }) =>
    organization === null ? (
      <span class="quiet">deleted</span>
    ) : (
      <a href={routeHash('organizations', [organization])}>
        <Foreign text={organization} />
      </a>
    ),
  sortValue: ({ organization }) => organization,
}

function Actions({ of: key, onRotate, onRevoke }: KeyActions & { readonly of: ApiKey }) {
  const state = stateOf(key)
  if (!works(state)) return null
  const name = visibleText(key.name)
  return (
    <span class="row-actions">
      {state === 'active' && (
        <Button label={`Rotate ${name}`} icon="retry" iconOnly onClick={() => onRotate(key)} />
      )}
      <Button label={`Revoke ${name}`} icon="trash" iconOnly kind="danger" onClick={() => onRevoke(key)} />
    </span>
  )
}
