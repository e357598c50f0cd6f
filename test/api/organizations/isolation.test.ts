import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { randomText } from '../../../src/lib/id.ts'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, chatOutput, jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'
import { hang } from '../../support/script.ts'
import { createResponse, postResponse, responsesPath } from '../../support/responses.ts'
import { storeCompletion } from '../../support/stored-completions.ts'
import { call, type Endpoint, endpoints, get, type Headers } from '../support/isolated-endpoints.ts'
import { startOnce } from '../../support/start-once.ts'

/** All that an answer depends on: the reply, and what was asked upstream for it. */
type Seen = { readonly status: number; readonly text: string; readonly upstream: readonly string[] }

const secret = 'The gauge at the bridge says so.'

/** A gateway in which `acme` has had a tool call with something to keep, which `globex` knows nothing of. */
async function startShared() {
  const providerReply = chatOutput({
    text: [],
    reasoning: [secret],
    calls: [{ id: 'call_own_0001', ...call }],
  })
  const paid = await startBillingScenario(jsonReply(providerReply), { acme: { kind: 'deepseek' } })
  await paid.billing.fund('acme', '1')
  await paid.billing.fund('globex', '1')
  const [acme, globex] = [await managerOf(paid, 'acme'), await managerOf(paid, 'globex')]
  // Each has completions of its own, those of the one between those of the other.
  const foreign: string[] = []
  for (const headers of [acme!, globex!, acme!, globex!, acme!]) {
    paid.acme.respondWith(headers === globex ? jsonReply() : jsonReply(providerReply))
    const { id } = await storeCompletion(paid.app, { metadata: { kept: 'yes' } }, { headers })
    if (headers === globex) foreign.push(id)
  }
  const reply = await paid.app.chat(chatRequest, { headers: acme })
  const { id } = (await reply.json()) as { readonly id: string }
  paid.acme.respondWith(jsonReply(chatOutput({ text: [secret] })))
  const items = (await createResponse(paid.app, {}, { headers: acme })).output.map((item) => item.id)
  await createResponse(paid.app, {}, { headers: acme })
  paid.acme.respondWith(jsonReply())
  const globexIds = await ownerIdsOf(paid, 'globex')
  const ids = [id, ...items, ...(await idsOf(paid))].filter(
    (id) => !foreign.includes(id) && !globexIds.includes(id),
  )
  return { paid, acme: acme!, globex: globex!, ids, [Symbol.asyncDispose]: paid[Symbol.asyncDispose] }
}

/** Creates a key that manages its organization, which has a project with a key, and a key that it has created itself. */
async function managerOf({ app, billing }: BillingScenario, organization: string): Promise<Headers> {
  const { keys } = billing
  const key = { organization, name: `of ${organization}`, expiresAt: null }
  const created = await keys.create({ ...key, permissions: ['admin', 'mint'], budget: 1_000_000_000n })
  const headers = { authorization: `Bearer ${created.key.reveal()}` }
  const project = await app.request('/v1/organization/projects', { headers, body: { name: organization } })
  const { id } = (await project.json()) as { readonly id: string }
  await keys.create({ ...key, project: id })
  await keys.mint(created.record.id, { name: 'minted', budget: 1n, expiresAt: null })
  return headers
}

/** The ids that the database holds; of what every request or change leaves, the first and the last one of each organization. */
async function idsOf({ billing }: BillingScenario): Promise<string[]> {
  const columns = {
    organizations: 'id',
    projects: 'id',
    api_keys: 'public_id',
    provider_state: 'call_id',
    completions: 'id',
    responses: 'id',
  }
  const all = Object.entries(columns).map(([table, column]) => `SELECT ${column} FROM ${table}`)
  const some = ['usage', 'ledger', 'audit_entries'].flatMap((table) =>
    ['min', 'max'].map((end) => `SELECT ${end}(id) FROM ${table} GROUP BY organization_id`),
  )
  return (await billing.values([...all, ...some].join(' UNION '))).flat().map(String)
}

/** The id of an organization, and those of its keys, projects, requests, entries and changes. */
async function ownerIdsOf({ billing }: BillingScenario, name: string): Promise<unknown[]> {
  const owned = 'SELECT id FROM organizations WHERE name = ?'
  const keys = `SELECT public_id FROM api_keys WHERE organization_id IN (${owned})`
  const others = ['projects', 'usage', 'ledger', 'audit_entries'].map(
    (table) => `SELECT id FROM ${table} WHERE organization_id IN (${owned})`,
  )
  const all = [owned, keys, ...others]
  return (await billing.values(all.join(' UNION '), ...all.map(() => name))).flat()
}

async function see({ ask }: Endpoint, paid: BillingScenario, id: string, headers: Headers): Promise<Seen> {
  const before = paid.acme.requests.length
  const reply = await ask(paid, id, headers)
  const text = await reply.text()
  const upstream = paid.acme.requests.slice(before).map(({ body }) => JSON.stringify(body))
  const received = [text, ...upstream].map((part) =>
    part.replaceAll(id, 'ID').replace(/"(id|created|request_id)":("(?:chat|req_)[^"]*"|\d+)/g, ''),
  )
  return { status: reply.status, text: received[0]!, upstream: received.slice(1) }
}

/** An id of the same form, and of the same moment where it tells one, that nothing has. */
function unknownLike(id: string): string {
  if (/^chatcmpl-[0-9a-f]{32}$/.test(id)) return id.slice(0, -15) + randomBytes(8).toString('hex').slice(1)
  const [, kind, place] = /^(resp_|msg_|audit_log-)[0-9a-f]{32}(\d*)$/.exec(id) ?? []
  if (kind !== undefined) return `${kind}${randomBytes(16).toString('hex')}${place}`
  const [prefix] = /^([a-z]+[_-])?/.exec(id) ?? ['']
  return prefix + randomText(id.length - prefix.length)
}

const unchanged = startOnce(startShared)

test.each(endpoints.map((endpoint) => [endpoint.path, endpoint] as const))(
  '%s treats the ids of another organization as ids that do not exist',
  async (_, endpoint) => {
    await using own = endpoint.changesNothing ? undefined : await startShared()
    const { paid, acme, globex, ids } = own ?? (await unchanged())
    expect(ids).toContain('call_own_0001')
    expect(ids.length).toBeGreaterThan(8)
    let owned = 0
    for (const id of ids) {
      const unknown = await see(endpoint, paid, unknownLike(id), globex)
      const foreign = await see(endpoint, paid, id, globex)
      expect([id, foreign]).toEqual([id, unknown])
      expect(JSON.stringify(foreign)).not.toContain(secret)
      const owner = await see(endpoint, paid, id, acme)
      if (JSON.stringify(owner) !== JSON.stringify(unknown)) owned++
    }
    expect(owned > 0).toBe(endpoint.owns)
  },
)

test('a response that is being generated for one organization does not exist for another', async () => {
  await using shared = await startShared()
  const { paid, acme, globex } = shared
  paid.acme.respondWith(chunks([delta({ content: secret })], hang))
  const reader = readPieces(await postResponse(paid.app, { stream: true }, { headers: acme }))
  const text = await reader.until(secret)
  const [id] = /resp_[0-9a-f]{32}/.exec(text)!
  for (const endpoint of endpoints.filter(({ path }) => path.startsWith('/v1/responses/'))) {
    const foreign = await see(endpoint, paid, id, globex)
    expect(foreign).toEqual(await see(endpoint, paid, unknownLike(id), globex))
    expect(foreign.status).toBe(404)
  }
  expect((await get(paid, `${responsesPath}/${id}`, acme)).status).toBe(200)
  await reader.leave()
})

test('every path with a parameter or a cursor is covered by these tests', async () => {
  await using paid = await startBillingScenario(jsonReply())
  const document = (await (await paid.app.request('/openapi.json')).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: object[] }>>>>
  }
  const taking = Object.entries(document.paths).filter(([path, operations]) => {
    const queries = Object.values(operations).flatMap(({ parameters = [] }) => parameters)
    return path.includes('{') || queries.some((parameter) => 'in' in parameter && parameter.in === 'query')
  })
  const tried = endpoints.map(({ path }) => path)
  expect(taking.map(([path]) => path).filter((path) => !tried.includes(path))).toEqual([])
})
