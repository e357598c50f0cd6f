import type { AuditEntry } from '../../api/objects.ts'
import { useGet } from '../../api/resource.ts'
import { IdLine } from '../../components/button.tsx'
import { Facts, Foreign, ForeignLink, type LabelledFact, Time } from '../../components/facts.tsx'
import { Table } from '../../components/table.tsx'
import { type Column, column } from '../../components/table-columns.tsx'
import { Loaded, ViewHeader } from '../../components/view.tsx'
import { routeHash } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { type Fields, sourceText } from './audit-entry.ts'

/** One change: who made it, from where, and the values before and after. */
export function AuditDetail({ id, back }: { readonly id: string; readonly back: string }) {
  const entry = useGet<AuditEntry>(useAdminApi(), `/admin/audit_logs/${encodeURIComponent(id)}`)
  return (
    <>
      <ViewHeader title="Change" back={{ href: back, label: '← All changes' }} />
      <IdLine id={id} />
      <Loaded resource={entry} lines={12}>
        {(loaded) => (
          <div class="stack">
            <Facts facts={factsOf(loaded)} />
            <Table
              label="Changed fields"
              columns={columns}
              rows={rowsOf(loaded)}
              rowKey={({ name }) => name}
              empty={<p class="quiet">The change has no fields.</p>}
            />
          </div>
        )}
      </Loaded>
    </>
  )
}

function factsOf(entry: AuditEntry): readonly LabelledFact[] {
  const { created_at, event, resource, organization, organization_id, actor } = entry
  return [
    ['Time', <Time at={created_at} format="second" />],
    ['Event', <Foreign text={event} />],
    ['Object', <Named {...resource} filter="resource" />],
    organization_id !== null && [
      'Organization',
      <Same name="organization" value={organization_id} text={organization} />,
    ],
    ['Actor', <Named {...actor} filter="actor" />],
    ['From', <Foreign text={[sourceText(entry.source), entry.address].filter(Boolean).join(', ')} />],
    entry.forwarded_for !== null && [
      'Forwarded for',
      <Foreign text={`${entry.forwarded_for} (X-Forwarded-For, not verified)`} />,
    ],
  ]
}

function Named(props: AuditEntry['resource'] & { readonly filter: 'resource' | 'actor' }) {
  const { type, id, name, filter } = props
  const value = id ?? name
  return (
    <span>
      {type.replaceAll('_', ' ')} {value !== null && <Same name={filter} value={value} text={name} />}
    </span>
  )
}

/** Leads to the other changes with the same value. */
function Same(props: { readonly name: string; readonly value: string; readonly text: string | null }) {
  const { name, value, text } = props
  return <ForeignLink text={text ?? value} href={routeHash('audit', [], { [name]: value })} />
}

type Row = { readonly name: string; readonly before: string; readonly after: string }

function rowsOf({ before, after }: AuditEntry): readonly Row[] {
  return Object.keys({ ...before, ...after }).map((name) => ({
    name,
    before: valueText(before, name),
    after: valueText(after, name),
  }))
}

function valueText(fields: Fields | null, name: string): string {
  const value = fields?.[name]
  if (value === undefined || value === null) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const columns: readonly Column<Row>[] = [
  column('name', 'Field', ({ name }) => <Foreign text={name} />),
  column('before', 'Before', ({ before }) => <Foreign text={before} />),
  column('after', 'After', ({ after }) => <Foreign text={after} />),
]
