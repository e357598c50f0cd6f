import { auditIdPattern, renderAuditEntry } from '../../http/render-audit.ts'
import { type AuditEntry, auditEvents, type AuditFields } from '../../storage/ports/audit.ts'
import { invalidFlag, readChoice } from '../accounts/limit-flags.ts'
import { type Command, commonFlagsHelp } from '../command.ts'
import { UsageError } from '../errors.ts'
import { pageFlags, readOrganization, readPageFlags } from '../list-flags.ts'
import { type Column, type DetailRow, detailText, listText, table, timeText } from '../output.ts'
import { storageCommand } from '../storage.ts'

const help = `Usage
  weir audit [--org acme] [--since yesterday] [FILTERS]    list changes, the newest first
  weir audit show ID                                       show one with the values before and after

Lists who changed what, when and from where: on the command line, on the page, by the APIs and by a
reload of the settings. An entry is kept when its object, its organization or the key that made the
change is deleted. All filters that are set must apply. Columns that do not fit on the terminal are
hidden.

Arguments
  ID               the ID of an entry

Flags
  --org NAME       only changes of this organization and of what belongs to it; a deleted one by its ID
  --actor NAME     only changes by the key or the user with this name or ID
  --event EVENT    only changes of this kind, such as api_key.created or organization.updated
  --resource NAME  only changes of the object with this name or ID
  --since 7d       only changes since then: a duration before now, today, yesterday, a date such as
                   2026-11-22, or a time such as 2026-11-22T08:00Z; default: all
  --until TIME     only changes before then, in the same forms
  --limit N        the most changes to list, up to 1000; default: 50
  --after ID       continue after this entry of an earlier list

Examples
  weir audit --since yesterday
  weir audit --org acme --event organization.credited
  weir audit --resource 2gKUg9XE1oXC

${commonFlagsHelp}`

/** `weir audit`. */
export const command: Command = {
  usage: help,
  run: (args, context) => (args[0] === 'show' ? show(args.slice(1), context) : list(args, context)),
}

const flagTypes = { org: 'text', actor: 'text', event: 'text', resource: 'text', ...pageFlags } as const
const idRule = { pattern: auditIdPattern, rule: 'the ID of an entry' }

const list = storageCommand('audit', { flags: flagTypes }, async (call) => {
  const { flags } = call
  const { org, actor, resource, after } = flags
  // A list without entries would look as if nothing had been changed.
  const event = readChoice(flags.event, 'audit', 'event', auditEvents)
  const query = {
    ...readPageFlags('audit', flags, idRule),
    actors: actor === undefined ? undefined : [actor],
    events: event && [event],
    resources: resource === undefined ? undefined : [resource],
    order: 'desc',
  } as const
  await call.open('read', async (storage) => {
    const isId = org !== undefined && /^org_[0-9a-f]{32}$/.test(org)
    const organizationId = isId ? org : await readOrganization(storage, org)
    const page = await storage.audit.page({ ...query, organizationId })
    if (page === undefined) throw invalidFlag('audit', 'after', idRule.rule, after ?? '')
    const { items, hasMore } = page
    const json = { data: items.map(renderAuditEntry), has_more: hasMore }
    call.print(json, listText(items, columns, 'There are no such changes.', call.context))
    if (hasMore && !flags.json)
      call.context.err(`There are more. To list them, add: --after ${items.at(-1)?.id}`)
  })
})

const columns: readonly Column<AuditEntry>[] = [
  { title: 'TIME', value: ({ createdAt }) => timeText(createdAt) },
  { title: 'EVENT', value: ({ event }) => event },
  { title: 'OBJECT', value: ({ resource }) => resource.name ?? resource.id ?? '-' },
  { title: 'ORG', value: ({ organization }) => organization ?? '-', dropOrder: 3 },
  { title: 'ACTOR', value: ({ actor }) => actor.name ?? actor.id ?? actor.type },
  { title: 'FROM', value: ({ actor }) => actor.source, dropOrder: 2 },
  { title: 'CHANGED', value: changedText, dropOrder: 1 },
  { title: 'ID', value: ({ id }) => id },
]

/** The names of the changed fields; of what is new or deleted, there are too many. */
function changedText({ before, after }: AuditEntry): string {
  return before === null || after === null ? '-' : Object.keys(after).join(', ')
}

const show = storageCommand('audit show', { operands: ['ID'] }, ({ operands: [id], open, print }) =>
  open('read', async ({ audit }) => {
    const entry = auditIdPattern.test(id) ? await audit.find(id) : undefined
    if (entry === undefined)
      throw new UsageError('There is no entry with this ID. To list entries, run: weir audit')
    print(renderAuditEntry(entry), entryText(entry))
  }),
)

function entryText(entry: AuditEntry): string {
  const { actor, resource } = entry
  const rows: readonly DetailRow[] = [
    ['ID', entry.id],
    ['Time', timeText(entry.createdAt)],
    ['Event', entry.event],
    ['Object', namedText(resource)],
    ['Organization', entry.organization ?? entry.organizationId ?? undefined],
    ['Project', entry.projectId ?? undefined],
    ['Actor', namedText(actor)],
    ['From', [actor.source, actor.address].filter((part) => part !== null).join(', ')],
    [
      'Forwarded for',
      actor.forwardedFor === null ? undefined : `${actor.forwardedFor} (X-Forwarded-For, not verified)`,
    ],
  ]
  return `${detailText(rows)}\n\n${fieldTable(entry.before, entry.after)}`
}

function namedText({ type, id, name }: AuditEntry['resource'] | AuditEntry['actor']): string {
  const label = [name, id && name ? `(${id})` : id].filter(Boolean).join(' ')
  return `${type.replace('_', ' ')} ${label}`.trim()
}

function fieldTable(before: AuditFields | null, after: AuditFields | null): string {
  const value = (fields: AuditFields | null, name: string) =>
    fields === null ? '' : JSON.stringify(fields[name] ?? null)
  return table(Object.keys({ ...before, ...after }), [
    { title: 'FIELD', value: (name) => name },
    { title: 'BEFORE', value: (name) => value(before, name) },
    { title: 'AFTER', value: (name) => value(after, name) },
  ])
}
