import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Pages } from '../../api/pages.ts'
import { ChangeButton } from '../../change-button.tsx'
import { Badge, Foreign, Time } from '../../components/facts.tsx'
import { visibleText } from '../../components/format.ts'
import { PagedTable } from '../../components/paged-table.tsx'
import { type Column, dayColumn } from '../../components/table-columns.tsx'
import { routeHash } from '../../route.ts'
import { type ApiKey, hasEnded, stateOf } from './key.ts'
import { budgetColumns, modelsColumn } from './limit-columns.tsx'

/** The actions on a key of the list. */
export type KeyActions = {
  readonly onEdit: (key: ApiKey) => void
  readonly onRotate: (key: ApiKey) => void
  readonly onRevoke: (key: ApiKey) => void
}

/** Where a list of keys is, which decides the columns that would be the same in each row. */
export type KeyScope = 'everyone' | 'organization' | 'project'

/** A table of keys. */
export function KeyTable(props: {
  readonly keys: Pages<ApiKey>
  readonly scope: KeyScope
  readonly actions: KeyActions
  readonly empty: ComponentChildren
}) {
  const { keys, scope, actions } = props
  const columns = useMemo(() => keyColumns(actions, scope), [scope])
  return (
    <PagedTable label="API keys" columns={columns} pages={keys} rowKey={({ id }) => id} empty={props.empty} />
  )
}

const tones = {
  active: 'good',
  replaced: 'warning',
  disabled: 'bad',
  expired: 'neutral',
  revoked: 'bad',
} as const

/** The state of a key as a badge. */
export function KeyBadge({ of }: { readonly of: ApiKey }) {
  const state = stateOf(of)
  return <Badge tone={tones[state]}>{state}</Badge>
}

function keyColumns(actions: KeyActions, scope: KeyScope): readonly Column<ApiKey>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      render: ({ id, name }) => (
        <a class="clipped" href={routeHash('keys', [id])} title={visibleText(name)}>
          <Foreign text={name} />
        </a>
      ),
      sortValue: ({ name }) => name,
    },
    {
      id: 'state',
      header: 'State',
      render: (key) => <KeyBadge of={key} />,
      sortValue: (key) => stateOf(key),
    },
    ...(scope === 'everyone' ? [organizationColumn] : []),
    ...(scope === 'project' ? [] : [projectColumn]),
    ...budgetColumns<ApiKey>(),
    modelsColumn(),
    {
      id: 'key',
      header: 'Key',
      minor: true,
      render: ({ id, last4 }) => <code>{`sk-weir-${id}-…${last4}`}</code>,
      sortValue: ({ id }) => id,
    },
    dayColumn('created', 'Created', ({ created_at }) => created_at),
    {
      id: 'expires',
      header: 'Expires',
      render: ({ expires_at }) => <Expiry at={expires_at} />,
      sortValue: ({ expires_at }) => expires_at,
    },
    { id: 'actions', header: 'Actions', align: 'right', render: (key) => <Actions of={key} {...actions} /> },
  ]
}

/** When a key expires. */
function Expiry({ at }: { readonly at: string | null }) {
  return at === null ? <span class="quiet">never</span> : <Time at={at} format="day" />
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

const projectColumn: Column<ApiKey> = {
  id: 'project',
  header: 'Project',
  render: (key) => <ProjectLink of={key} />,
  sortValue: ({ project }) => project?.name ?? null,
}

/** The project of a key, as a link. */
export function ProjectLink({ of: { organization, project } }: { readonly of: ApiKey }) {
  if (project === null) return <span class="quiet">none</span>
  return organization === null ? (
    <Foreign text={project.name} />
  ) : (
    <a href={routeHash('organizations', [organization, 'projects', project.id])}>
      <Foreign text={project.name} />
    </a>
  )
}

function Actions({ of: key, onEdit, onRotate, onRevoke }: KeyActions & { readonly of: ApiKey }) {
  if (hasEnded(key)) return null
  const name = visibleText(key.name)
  return (
    <span class="row-actions">
      <ChangeButton label="Edit" of={name} onClick={() => onEdit(key)} />
      {stateOf(key) === 'active' && <ChangeButton label="Rotate" of={name} onClick={() => onRotate(key)} />}
      <ChangeButton label="Revoke" of={name} kind="danger" onClick={() => onRevoke(key)} />
    </span>
  )
}
