import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { routeHash } from '../../routing/route.ts'
import { type ApiKey, type KeyState, stateOf, works } from './api-key.ts'

/** What a person can do with a key of the list. */
export type KeyActions = {
  readonly onRotate: (key: ApiKey) => void
  readonly onRevoke: (key: ApiKey) => void
}

const tones = { active: 'good', replaced: 'warning', expired: 'neutral', revoked: 'bad' } as const

/** The columns of a list of keys. */
export function keyColumns(actions: KeyActions): readonly Column<ApiKey>[] {
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
    {
      id: 'key',
      header: 'Key',
      render: ({ id, last4 }) => <code>{`sk-weir-${id}-…${last4}`}</code>,
      sortValue: ({ id }) => id,
    },
    {
      id: 'state',
      header: 'State',
      render: (key) => <StateBadge state={stateOf(key)} />,
      sortValue: (key) => stateOf(key),
    },
    {
      id: 'created',
      header: 'Created',
      render: ({ created_at }) => <Time at={created_at} format="day" />,
      sortValue: ({ created_at }) => created_at,
    },
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
export const organizationColumn: Column<ApiKey> = {
  id: 'organization',
  header: 'Organization',
  render: ({ organization }) =>
    organization === null ? (
      <span class="quiet">deleted</span>
    ) : (
      <a href={routeHash('organizations', [organization])}>
        <bdi>{visibleText(organization)}</bdi>
      </a>
    ),
  sortValue: ({ organization }) => organization,
}

function StateBadge({ state }: { readonly state: KeyState }) {
  return <Badge tone={tones[state]}>{state}</Badge>
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
