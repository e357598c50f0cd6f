import { expect, test } from 'bun:test'
import type { App } from '../../support/app.ts'
import { requestAdmin, startAdmin } from '../support/admin.ts'

type Listed = {
  readonly data: readonly { readonly id: string; readonly name: string }[]
  readonly has_more: boolean
}

async function list(app: App, path: string): Promise<Listed> {
  const { status, body } = await requestAdmin(app, 'GET', path)
  expect(status).toBe(200)
  return body as unknown as Listed
}

async function namesOf(app: App, path: string): Promise<readonly string[]> {
  return (await list(app, path)).data.map(({ name }) => name)
}

test('organizations are searched by a text of their name or ID, in any case, page by page', async () => {
  await using paid = await startAdmin()
  const { app } = paid
  for (const name of ['River one', 'river two', 'RIVER.3', 'lake_1', 'lakes1'])
    await requestAdmin(app, 'POST', 'organizations', { body: { name } })
  const first = await list(app, 'organizations?search=rIVER&limit=2')
  expect([first.data.map(({ name }) => name), first.has_more]).toEqual([['River one', 'river two'], true])
  const rest = await list(app, `organizations?search=rIVER&limit=2&after=${first.data[1]?.id}`)
  expect([rest.data.map(({ name }) => name), rest.has_more]).toEqual([['RIVER.3'], false])
  expect(await namesOf(app, 'organizations?search=river&order=desc&limit=1')).toEqual(['RIVER.3'])
  expect(await namesOf(app, `organizations?search=${first.data[0]?.id}`)).toEqual(['River one'])
  // A text, not a pattern.
  expect(await namesOf(app, 'organizations?search=%25')).toEqual([])
  expect(await namesOf(app, 'organizations?search=lake_')).toEqual(['lake_1'])
  expect(await namesOf(app, 'organizations?search=!')).toEqual([])
})

test('keys are searched by name or ID, and those that have ended are left out with usable=true', async () => {
  await using paid = await startAdmin()
  const { app, billing } = paid
  const ids: string[] = []
  for (const name of ['NIGHTLY one', 'nightly two', 'nightly three', 'laptop']) {
    const { body } = await requestAdmin(app, 'POST', 'keys', { body: { organization: 'default', name } })
    ids.push(String(body.id))
  }
  await requestAdmin(app, 'POST', `keys/${ids[0]}/revoke`)
  await billing.rows('UPDATE api_keys SET expires_at = 1 WHERE public_id = ?', ids[1] ?? '')
  expect(await namesOf(app, 'keys?search=nightly')).toEqual(['NIGHTLY one', 'nightly two', 'nightly three'])
  expect(await namesOf(app, 'keys?search=nightly&usable=true')).toEqual(['nightly three'])
  expect(await namesOf(app, 'keys?search=nightly&usable=false&organization=default')).toHaveLength(3)
  expect(await namesOf(app, `keys?search=${ids[3]}`)).toEqual(['laptop'])
  // A key that has ended since the previous page is its end all the same.
  expect(await namesOf(app, `keys?usable=true&after=${ids[0]}`)).toEqual(['nightly three', 'laptop'])
})

test('near_end=true lists what ends soon and can be used, page by page', async () => {
  await using paid = await startAdmin(undefined, { balance: '1.01' })
  const { app } = paid
  const create = async (path: string, body: object) =>
    String((await requestAdmin(app, 'POST', path, { body })).body.id)
  const organization = 'acme'
  await create('organizations', { name: organization, billing: 'unmetered' })
  await create('organizations', { name: 'empty', billing: 'prepaid' })
  const soon = { organization, expires_in: '2d' }
  const last = await create('keys', { ...soon, name: 'soon' })
  await create('keys', { organization, name: 'exhausted', budget_usd: '0' })
  await create('keys', { ...soon, name: 'disabled', enabled: false })
  await create('keys', { organization, name: 'in a month', expires_in: '30d', budget_usd: '5' })
  await create('projects', { organization, name: 'research', budget_usd: '0', budget_period: 'day' })
  await create('projects', { organization, name: 'sales', budget_usd: '5' })
  expect(await namesOf(app, 'organizations?near_end=true')).toEqual(['empty'])
  expect(await namesOf(app, `projects?near_end=true&organization=${organization}`)).toEqual(['research'])
  expect(await namesOf(app, 'keys?near_end=true')).toEqual(['soon', 'exhausted'])
  expect(await list(app, 'keys?near_end=true&limit=1')).toMatchObject({ has_more: true, last_id: last })
  expect(await namesOf(app, `keys?near_end=true&limit=1&after=${last}`)).toEqual(['exhausted'])
  expect(await namesOf(app, 'keys?near_end=true&search=soon&order=desc')).toEqual(['soon'])
  for (const path of ['organizations', 'projects', 'keys']) {
    expect((await namesOf(app, `${path}?near_end=false`)).length).toBeGreaterThan(1)
    expect((await requestAdmin(app, 'GET', `${path}?near_end=soon`)).status).toBe(400)
  }
})

const noField = 'Invalid request body: must have at least 1 field, not 0.'

test.each([
  ['an empty change of an organization', 'PATCH', 'organizations/default', null, noField],
  ['an empty change of a key', 'PATCH', 'keys/Test00000000', null, noField],
  [
    'an unknown status',
    'GET',
    'requests?status=x',
    'status',
    /^Invalid 'status': must .*failed.*, not 'x'\.$/,
  ],
])('%s is a 400 that says what is wrong', async (_, method, path, param, message) => {
  await using paid = await startAdmin()
  const reply = await requestAdmin(paid.app, method, path, method === 'GET' ? {} : { body: {} })
  const expected = typeof message === 'string' ? message : expect.stringMatching(message)
  expect([reply.status, reply.body.error]).toEqual([
    400,
    { message: expected, type: 'invalid_request_error', param, code: 'invalid_value' },
  ])
})
