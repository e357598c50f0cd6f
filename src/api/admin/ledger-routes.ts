import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { csvReply } from '../../http/csv-reply.ts'
import { describe } from '../../http/describe.ts'
import { invalidCursor, listSchema } from '../../http/paging.ts'
import { defineQuery } from '../../http/query.ts'
import { entryIdPattern, ledgerCsv, renderEntry } from '../../http/render-ledger.ts'
import { LedgerEntryObject } from '../../http/objects/ledger.ts'
import { stringEnum } from '../../http/schema.ts'
import { formatUsd } from '../../lib/usd.ts'
import { entryKinds, type LedgerEntries, type LedgerQuery } from '../../storage/ports/ledger-entries.ts'
import type { Managed } from '../../storage/ports/storage.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { adminErrors, type AdminGuard } from './admin-guard.ts'
import { findOrganization } from './organizations.ts'

/** The dependencies of the route of ledgers. */
export type LedgerRouteDependencies = {
  readonly managed: Pick<Managed, 'organizations' | 'ledgerEntries'>
}

const defaultLimit = 50
const maxLimit = 100
const maxCsvLimit = 100_000

const time = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, description: `${description} In Unix seconds.` }))

const query = defineQuery({
  kind: Type.Optional(stringEnum(entryKinds, { description: 'Only entries of this kind.' })),
  start_time: time('Only entries of this time or later.'),
  end_time: time('Only entries before this time.'),
  after: Type.Optional(
    Type.String({ description: 'The `last_id` of the previous page. The page has older entries.' }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxCsvLimit,
      description:
        'The maximum number of entries to return: from 1 to 100, by default 50; as CSV from 1 to 100,000, by default all.',
    }),
  ),
  format: Type.Optional(
    stringEnum(['json', 'csv'], {
      description: 'The format of the response: `csv` is a file. By default as `Accept` says, else JSON.',
    }),
  ),
})

const page = listSchema(LedgerEntryObject, 'LedgerEntryList')
const LedgerPageObject = Type.Object(
  { ...page.properties, balance_usd: Type.String({ description: 'The present balance in USD.' }) },
  { title: 'LedgerEntryList' },
)

const detail = describe({
  tag: 'Admin',
  id: 'listLedgerEntries',
  summary: 'List the ledger of an organization',
  description:
    'Lists every change of the balance of an organization, the newest first: credits, with their notes, and the charges of ' +
    'requests. The amounts of all entries add up to the balance. With `format=csv` or `Accept: text/csv`, it is a CSV file.',
  path: { organization: 'The ID or the name of an organization.' },
  query: query.parameters,
  reply: LedgerPageObject,
  csv: true,
  errors: [400, 404, ...adminErrors],
})

/** The route of the ledgers of organizations. */
export function ledgerAdminRoutes(guard: AdminGuard, { managed }: LedgerRouteDependencies) {
  return new Elysia({ name: 'admin-ledger' })
    .use(guard)
    .get(
      '/admin/organizations/:organization/ledger',
      ({ request, params }) => listEntries(request, params.organization, managed),
      { detail },
    )
}

async function listEntries(
  request: Request,
  reference: string,
  { organizations, ledgerEntries }: LedgerRouteDependencies['managed'],
) {
  const { kind, start_time, end_time, after, limit, format } = query.read(request)
  if (after !== undefined && !entryIdPattern.test(after)) throw invalidCursor('a ledger entry')
  const isCsv = format === 'csv' || (format === undefined && acceptsCsv(request))
  if (!isCsv && limit !== undefined && limit > maxLimit)
    throw badRequest(
      `Invalid 'limit': must be at most ${maxLimit}, not ${limit}; as CSV at most ${maxCsvLimit}.`,
      'integer_above_max_value',
      'limit',
    )
  const { id } = await findOrganization(organizations, reference)
  const selected: LedgerQuery = {
    organization: id,
    kind,
    since: start_time && start_time * 1000,
    until: end_time && end_time * 1000,
    after,
    limit: limit ?? (isCsv ? Number.MAX_SAFE_INTEGER : defaultLimit),
  }
  return isCsv
    ? csvReply(`weir-ledger-${id}.csv`, ledgerCsv(ledgerEntries.pieces(selected)), request.method)
    : readPage(ledgerEntries, selected)
}

function acceptsCsv({ headers }: Request): boolean {
  return headers.get('accept')?.includes('text/csv') === true
}

async function readPage(ledgerEntries: LedgerEntries, selected: LedgerQuery) {
  const { items, hasMore, balance } = await ledgerEntries.page(selected)
  return {
    object: 'list' as const,
    data: items.map((entry) => ({ object: 'ledger_entry' as const, ...renderEntry(entry) })),
    first_id: items[0]?.id ?? null,
    last_id: items.at(-1)?.id ?? null,
    has_more: hasMore,
    balance_usd: formatUsd(balance),
  }
}
