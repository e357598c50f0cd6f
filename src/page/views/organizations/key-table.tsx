import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { ApiKey } from '../../api/objects.ts'
import type { Pages } from '../../api/pages.ts'
import { ChangeButton } from '../../change-button.tsx'
import { Badge, Foreign, ForeignLink, None, Time } from '../../components/facts.tsx'
import { visibleText } from '../../components/format.ts'
import { PagedTable } from '../../components/paged-table.tsx'
import { type Column, column, dayColumn } from '../../components/table-columns.tsx'
import { routeHash } from '../../route.ts'
import { hasEnded, stateOf } from './key.ts'
import { budgetColumns, modelsColumn } from './limits-view.tsx'

/** The actions on a key of the list. */
type KeyActions = {
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
    column('name', 'Name', (key) => <KeyName of={key} />, { sortValue: ({ name }) => name }),
    column('state', 'State', (key) => <KeyBadge of={key} />, { sortValue: stateOf }),
    ...(scope === 'everyone' ? [organizationColumn] : []),
    ...(scope === 'project' ? [] : [projectColumn]),
    ...budgetColumns<ApiKey>(),
    modelsColumn(),
    column('key', 'Key', shownKey, { minor: true, sortValue: ({ id }) => id }),
    dayColumn('created', 'Created', ({ created_at }) => created_at),
    column(
      'expires',
      'Expires',
      ({ expires_at: at }) => (at === null ? <None text="never" /> : <Time at={at} format="day" />),
      { sortValue: ({ expires_at }) => expires_at },
    ),
    column('actions', 'Actions', (key) => <Actions of={key} {...actions} />, { align: 'right' }),
  ]
}

function KeyName({ of: { id, name } }: { readonly of: ApiKey }) {
  return (
    <a class="clipped" href={routeHash('keys', [id])} title={visibleText(name)}>
      <Foreign text={name} />
    </a>
  )
}

/** A key without its secret. */
export function shownKey({ id, last4 }: ApiKey) {
  return <code>{`sk-weir-${id}-…${last4}`}</code>
}

/** The column of the organization, in a list of all keys. */
const organizationColumn = column<ApiKey>(
  'organization',
  'Organization',
  (key) => <OrganizationLink of={key} />,
  {
    sortValue: ({ organization }) => organization,
  },
)

const projectColumn = column<ApiKey>('project', 'Project', (key) => <ProjectLink of={key} />, {
  sortValue: ({ project }) => project?.name ?? null,
})

/** The organization of a key, as a link. */
export function OrganizationLink({ of: { organization: name } }: { readonly of: ApiKey }) {
  if (name === null) return <None text="deleted" />
  return <ForeignLink text={name} href={routeHash('organizations', [name])} />
}

/** The project of a key, as a link. */
export function ProjectLink({ of: { organization, project } }: { readonly of: ApiKey }) {
  if (project === null) return <None />
  if (organization === null) return <Foreign text={project.name} />
  const href = routeHash('organizations', [organization, 'projects', project.id])
  return <ForeignLink text={project.name} href={href} />
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
