import { expect } from 'bun:test'
import { join } from 'node:path'
import { command as keys } from '../../../src/cli/commands/keys.ts'
import { command as orgs } from '../../../src/cli/commands/orgs.ts'
import { command as usage } from '../../../src/cli/commands/usage.ts'
import { Secret } from '../../../src/lib/secret.ts'
import type { DatabaseLocation } from '../../../src/storage/database-location.ts'
import type { App } from '../../support/app.ts'
import { pricing } from '../../support/billing-scenario.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { sharedPostgres } from '../../support/postgres/server.ts'
import {
  createResponse,
  listInputItems,
  replayResponse,
  responsesPath,
  retrieveResponse,
} from '../../support/responses.ts'
import { type Scenario, type ScenarioOptions, startScenario } from '../../support/scenario.ts'
import type { Script } from '../../support/script.ts'
import { listCompletions, storeCompletion } from '../../support/stored-completions.ts'
import { storageFixture } from './storage-fixture.ts'

/** An empty database, and the commands that use it. */
export type MovedPlace = ReturnType<typeof storageFixture> & {
  /** The value of `--to` and `--from`. */
  readonly name: string
  readonly database: DatabaseLocation
}

/** A data folder without a database. */
export function sqlitePlace(): MovedPlace {
  const fixture = storageFixture()
  return { ...fixture, name: fixture.data, database: join(fixture.data, 'weir.db') }
}

/** An empty PostgreSQL database. */
export async function postgresPlace(): Promise<MovedPlace> {
  const url = await (await sharedPostgres()).createDatabase()
  return { ...storageFixture({ WEIR_DATABASE: url }), name: url, database: new Secret(url) }
}

/** Starts a gateway with a priced model on this database. */
export function serveAt(
  { database }: Pick<MovedPlace, 'database'>,
  scripts: Script | readonly Script[] = jsonReply(),
  options: ScenarioOptions = {},
): Promise<Scenario> {
  return startScenario(scripts, { ...options, database, model: { pricing, max_output_tokens: 100 } })
}

/** The ids of what `fillGateway` has stored. */
export type StoredIds = {
  readonly completions: readonly string[]
  /** A chain, whose first response is deleted. */
  readonly responses: readonly string[]
  readonly otherKey: string
  readonly revokedKey: string
}

/** Stores something of each kind through the API and the commands. */
export async function fillGateway(app: App, { say }: MovedPlace): Promise<StoredIds> {
  expect((await say(orgs, 'credit', 'default', '5')).code).toBe(0)
  expect((await say(orgs, 'set', 'default', '--billing', 'prepaid')).code).toBe(0)
  expect((await say(orgs, 'create', 'globex')).code).toBe(0)
  const completions: string[] = []
  for (const name of ['one', 'two', 'three', 'four', 'five'])
    completions.push((await storeCompletion(app, { metadata: { name, kind: 'räksmörgås' } })).id)
  const first = await createResponse(app)
  const second = await createResponse(app, { previous_response_id: first.id, input: 'And how wide?' })
  await app.request(`${responsesPath}/${first.id}`, { method: 'DELETE' })
  const otherKey = JSON.parse((await say(keys, 'create', '--org', 'globex', '--json')).out).key
  const revoked = JSON.parse((await say(keys, 'create', '--name', 'gone', '--json')).out)
  expect((await say(keys, 'revoke', revoked.id)).code).toBe(0)
  const other = { headers: { authorization: `Bearer ${otherKey}` } }
  await storeCompletion(app, {}, other)
  return { completions, responses: [first.id, second.id], otherKey, revokedKey: revoked.key }
}

/** Everything that clients and the operator see of what is stored. */
export async function readGateway(app: App, { say }: MovedPlace, ids: StoredIds): Promise<object> {
  const [deleted = '', kept = ''] = ids.responses
  const statusOf = async (key: string) =>
    (await app.request('/v1/models', { headers: { authorization: `Bearer ${key}` } })).status
  return {
    pages: await Promise.all(
      ids.completions.flatMap((id) => [
        listCompletions(app, `limit=2&after=${id}`),
        listCompletions(app, `limit=2&order=desc&after=${id}`),
      ]),
    ),
    byMetadata: await listCompletions(app, 'metadata[name]=three'),
    byModel: await listCompletions(app, 'model=acme/river&metadata[kind]=räksmörgås'),
    messages: await (await app.request(`/v1/chat/completions/${ids.completions[0]}/messages`)).json(),
    deleted: (await app.request(`${responsesPath}/${deleted}`)).status,
    response: await retrieveResponse(app, kept),
    input: await listInputItems(app, kept),
    events: (await replayResponse(app, kept)).text,
    responses: await (await app.request(responsesPath)).json(),
    usage: await usageOf(app),
    usageByCommand: JSON.parse((await say(usage, '--json')).out).models,
    keys: JSON.parse((await say(keys, 'list', '--json')).out),
    organizations: JSON.parse((await say(orgs, 'list', '--json')).out),
    otherKey: await statusOf(ids.otherKey),
    revokedKey: await statusOf(ids.revokedKey),
  }
}

async function usageOf(app: App): Promise<unknown> {
  const since = Math.floor(Date.now() / 1000) - 7200
  const query = `start_time=${since}&bucket_width=1d&group_by[]=model&group_by[]=api_key_id`
  const reply = await app.request(`/v1/organization/usage/completions?${query}`)
  const { data } = (await reply.json()) as { readonly data: readonly { readonly results: unknown }[] }
  return data.map(({ results }) => results)
}
