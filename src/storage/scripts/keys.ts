import { eq, isNull, type SQL, sql } from 'drizzle-orm'
import { type ApiKey, createApiKey, hashSecret, printApiKey } from '../../domain/accounting/organization.ts'
import { Secret } from '../../lib/secret.ts'
import { defaultOrganization, parseBootstrapKey } from '../bootstrap-key.ts'
import { noKeyWithId, ownerOfActive, renewedExpiry } from '../common/account-rules.ts'
import {
  type KeyInput,
  type KeyRecord,
  type Keys,
  type KnownKey,
  type ListedPage,
  type NewKey,
  type PageQuery,
  toListedPage,
} from '../ports/accounts.ts'
import { api_keys, organizations } from '../schema/organizations.ts'
import { insertInto, nullable, select, update } from '../sql.ts'
import { type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import { accountNamed, addOrganization, exists, organizationFields, toOrganization } from './organizations.ts'

/** The API keys of a database. `now` returns milliseconds since 1970. */
export function createKeys({ read, transact }: ScriptRunner, now: () => number = Date.now): Keys {
  return {
    create: (input) => transact(() => createKey(input, now())),
    list: () => read(listKeys),
    page: (query) => read(() => pageOfKeys(query)),
    revoke: (id) => transact(() => revokeKey(id, now())),
    rotate: (id, grace) => transact(() => rotateKey(id, grace, now())),
  }
}

/** Creates a key, random unless one is passed; throws an error for the operator if its organization does not exist. */
export function* createKey(input: KeyInput, now: number, key: ApiKey = createApiKey()): Script<NewKey> {
  const organization = yield* accountNamed(input.organization)
  yield* insertKey({
    id: key.publicId,
    organization: organization.id,
    name: input.name,
    secretHash: hashSecret(key.secret),
    last4: key.secret.slice(-4),
    now,
    expiresAt: input.expiresAt,
  })
  return { record: yield* keyWithId(key.publicId), key: new Secret(printApiKey(key)) }
}

type KeyRow = {
  id: string
  organization: string
  name: string
  secretHash: Uint8Array
  last4: string
  now: number
  expiresAt: number | null
}

const insertKey = statement((values: Parameters<KeyRow>) =>
  insertInto(api_keys, {
    public_id: values.id,
    organization_id: values.organization,
    name: values.name,
    secret_hash: values.secretHash,
    last4: values.last4,
    created_at: values.now,
    expires_at: values.expiresAt,
  }),
)

const listKeys = statement((_, { keyOrder }) => selectKeys(sql`order by ${keyOrder}`))

/** Returns one page by the time of creation: keys are never deleted. Undefined if there is no key with the id `after`. */
function* pageOfKeys(query: PageQuery): Script<ListedPage<KeyRecord> | undefined> {
  const { after, order, limit } = query
  const [last] = after === undefined ? [pages[order].start] : yield* positionOf({ id: after })
  if (last === undefined) return undefined
  return toListedPage(yield* pages[order].select({ after: last.position, limit: limit + 1 }), query)
}

const positionOf = statement((values: Parameters<{ id: string }>, { keyOrder }) =>
  select({ position: keyOrder }, sql`from ${api_keys} where ${api_keys.public_id} = ${values.id}`),
)

const pages = {
  asc: { select: selectPage(sql`>`, sql`asc`), start: { position: 0 } },
  desc: { select: selectPage(sql`<`, sql`desc`), start: { position: Number.MAX_SAFE_INTEGER } },
}

function selectPage(follows: SQL, direction: SQL) {
  return statement((values: Parameters<{ after: number; limit: number }>, { keyOrder }) =>
    selectKeys(
      sql`where ${keyOrder} ${follows} ${values.after} order by ${keyOrder} ${direction} limit ${values.limit}`,
    ),
  )
}

/** Revokes a key; one that is revoked stays so since then. */
function* revokeKey(id: string, now: number): Script<KeyRecord> {
  yield* setRevoked({ id, now })
  return yield* keyWithId(id)
}

const setRevoked = statement((values: Parameters<{ id: string; now: number }>) =>
  update(
    api_keys,
    { revoked_at: values.now },
    sql`where ${eq(api_keys.public_id, values.id)} and ${isNull(api_keys.revoked_at)}`,
  ),
)

/**
 * Creates a key with the same name, organization and lifetime as the one with this id, which goes on working for `grace`
 * milliseconds.
 */
export function* rotateKey(id: string, grace: number, now: number): Script<NewKey> {
  // Two rotations at once must not both create a key.
  yield* lockKey({ id })
  const old = yield* keyWithId(id)
  const organization = ownerOfActive(old, now)
  const replacement = yield* createKey(
    { organization, name: old.name, expiresAt: renewedExpiry(old, now) },
    now,
  )
  const until = old.expiresAt === null ? now + grace : Math.min(now + grace, old.expiresAt)
  yield* expireKey({ id, until, replacedBy: replacement.record.id })
  return replacement
}

const lockKey = statement((values: Parameters<{ id: string }>, { forUpdate }) =>
  select(
    { id: api_keys.public_id },
    sql`from ${api_keys} where ${eq(api_keys.public_id, values.id)} ${forUpdate}`,
  ),
)

const expireKey = statement((values: Parameters<{ id: string; until: number; replacedBy: string }>) =>
  update(
    api_keys,
    { expires_at: values.until, replaced_by: values.replacedBy },
    sql`where ${eq(api_keys.public_id, values.id)}`,
  ),
)

function* keyWithId(id: string): Script<KeyRecord> {
  const [key] = yield* findKey({ id })
  if (key === undefined) throw noKeyWithId(id)
  return key
}

const findKey = statement((values: Parameters<{ id: string }>) =>
  selectKeys(sql`where ${eq(api_keys.public_id, values.id)}`),
)

function selectKeys(rest: SQL) {
  return select(
    {
      id: api_keys.public_id,
      name: api_keys.name,
      organization: nullable(organizations.name),
      last4: api_keys.last4,
      createdAt: api_keys.created_at,
      expiresAt: api_keys.expires_at,
      revokedAt: api_keys.revoked_at,
      replacedBy: api_keys.replaced_by,
    },
    sql`from ${api_keys} left join ${organizations}
      on ${organizations.id} = ${api_keys.organization_id} and ${exists} ${rest}`,
  )
}

/**
 * Creates the first organization and key of an empty database, and returns the key; undefined for any other database.
 * `configured` is the value of WEIR_BOOTSTRAP_KEY; throws if that is not a valid key, even if it is not used.
 */
export function* bootstrap(configured: string | undefined, now: number): Script<NewKey | undefined> {
  const key = configured ? parseBootstrapKey(configured) : createApiKey()
  // Of two processes that start together, only one adds the organization.
  const isFirst = (yield* findAny()).length === 0 && (yield* addOrganization(defaultOrganization, now))
  if (!isFirst) return undefined
  return yield* createKey({ organization: defaultOrganization, name: 'first key', expiresAt: null }, now, key)
}

const findAny = statement(() =>
  select(
    { id: organizations.id },
    sql`from ${organizations} where ${exists} union all select ${api_keys.public_id} from ${api_keys} limit 1`,
  ),
)

/** Finds a key and its organization for authentication. */
export function* findKnownKey(publicId: string): Script<KnownKey | undefined> {
  const [row] = yield* selectKnownKey({ id: publicId })
  if (row === undefined) return undefined
  const { secretHash, expiresAt, revokedAt, found, balance } = row
  return {
    publicId,
    secretHash,
    expiresAt,
    revokedAt,
    organization: found === null ? null : toOrganization(row),
    hasCredit: (balance ?? 0) > 0,
  }
}

/** Without an organization, the columns of it are null. */
const selectKnownKey = statement((values: Parameters<{ id: string }>) =>
  select(
    {
      ...organizationFields,
      found: nullable(organizations.id),
      balance: nullable(organizations.balance),
      secretHash: api_keys.secret_hash,
      expiresAt: api_keys.expires_at,
      revokedAt: api_keys.revoked_at,
    },
    sql`from ${api_keys} left join ${organizations}
      on ${organizations.id} = ${api_keys.organization_id} and ${exists}
      where ${api_keys.public_id} = ${values.id}`,
  ),
)
