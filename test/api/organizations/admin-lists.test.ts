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
  for (const name of ['CI one', 'ci two', 'ci three', 'laptop']) {
    const { body } = await requestAdmin(app, 'POST', 'keys', { body: { organization: 'default', name } })
    ids.push(String(body.id))
  }
  await requestAdmin(app, 'POST', `keys/${ids[0]}/revoke`)
  await billing.rows('UPDATE api_keys SET expires_at = 1 WHERE public_id = ?', ids[1] ?? '')
  expect(await namesOf(app, 'keys?search=ci')).toEqual(['CI one', 'ci two', 'ci three'])
  expect(await namesOf(app, 'keys?search=ci&usable=true')).toEqual(['ci three'])
  expect(await namesOf(app, 'keys?search=ci&usable=false&organization=default')).toHaveLength(3)
  expect(await namesOf(app, `keys?search=${ids[3]}`)).toEqual(['laptop'])
  // A key that has ended since the previous page is its end all the same.
  expect(await namesOf(app, `keys?usable=true&after=${ids[0]}`)).toEqual(['ci three', 'laptop'])
})
