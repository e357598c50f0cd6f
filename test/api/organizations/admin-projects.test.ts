import { expect, test } from 'bun:test'
import type { App } from '../../support/app.ts'
import { adminLines, requestAdmin, startAdmin } from '../support/admin.ts'

/** Creates an object, and returns its id. */
async function create(app: App, path: string, body: object): Promise<string> {
  const created = await requestAdmin(app, 'POST', path, { body })
  expect(created.status).toBe(200)
  return String(created.body.id)
}

async function idsOf(app: App, list: string): Promise<readonly string[]> {
  const { body } = await requestAdmin(app, 'GET', list)
  return (body.data as readonly { readonly id: string }[]).map(({ id }) => id)
}

test('projects are listed by organization, page by page, and deleted ones on request', async () => {
  await using paid = await startAdmin()
  const { app } = paid
  await create(app, 'organizations', { name: 'acme' })
  const own = await create(app, 'projects', { organization: 'default', name: 'river' })
  const [first, second] = [
    await create(app, 'projects', { organization: 'acme', name: 'river' }),
    await create(app, 'projects', { organization: 'acme', name: 'lake' }),
  ]
  expect(await idsOf(app, 'projects')).toEqual([own, first, second])
  expect(await idsOf(app, 'projects?organization=acme')).toEqual([first, second])
  expect(await idsOf(app, `projects?organization=acme&limit=1&after=${first}`)).toEqual([second])
  expect((await requestAdmin(app, 'GET', `projects?organization=acme&after=${own}`)).status).toBe(400)
  expect((await requestAdmin(app, 'GET', 'projects?organization=none')).status).toBe(404)
  const deleted = await requestAdmin(app, 'DELETE', `projects/${first}`)
  expect(deleted).toEqual({ status: 200, body: { id: first, object: 'project.deleted', deleted: true } })
  expect(await idsOf(app, 'projects?organization=acme')).toEqual([second])
  expect(await idsOf(app, 'projects?organization=acme&include_deleted=true')).toEqual([first, second])
  expect((await requestAdmin(app, 'GET', `projects/${first}`)).body.deleted_at).toEqual(expect.any(String))
  expect((await requestAdmin(app, 'PATCH', `projects/${first}`, { body: { name: 'sea' } })).status).toBe(400)
  expect(adminLines(app).at(-1)).toEqual({
    admin: 'project.delete',
    project: first,
    organization: 'acme',
    name: 'river',
  })
})

test('a project is renamed to a name that its organization does not have yet', async () => {
  await using paid = await startAdmin()
  const { app } = paid
  const id = await create(app, 'projects', { organization: 'default', name: 'river' })
  await create(app, 'projects', { organization: 'default', name: 'lake' })
  const taken = await requestAdmin(app, 'PATCH', `projects/${id}`, { body: { name: 'lake' } })
  expect(taken).toMatchObject({
    status: 400,
    body: { error: { message: 'The project lake already exists.' } },
  })
  const renamed = await requestAdmin(app, 'PATCH', `projects/${id}`, { body: { name: 'sea' } })
  expect(renamed.body).toMatchObject({ id, name: 'sea', organization: 'default' })
})

test('a key is created with all of its properties, moved to a project, and found by organization and project', async () => {
  await using paid = await startAdmin()
  const { app } = paid
  const project = await create(app, 'projects', { organization: 'default', name: 'river' })
  const properties = {
    name: 'agent',
    permissions: ['mint'],
    tags: ['batch', 'night'],
    note: 'of the batch jobs',
    budget_usd: '5.00',
    budget_period: 'day',
    models: ['acme/river'],
  }
  const created = await requestAdmin(app, 'POST', 'keys', {
    body: { organization: 'default', project, expires_at: '2099-01-31T12:00:00+01:00', ...properties },
  })
  expect(created.body).toMatchObject({
    ...properties,
    project: { id: project, name: 'river' },
    expires_at: '2099-01-31T11:00:00.000Z',
  })
  const id = String(created.body.id)
  expect(await idsOf(app, `keys?project=${project}`)).toEqual([id])
  expect(await idsOf(app, 'keys?organization=default')).toEqual(['Test00000000', id])
  const { body } = await requestAdmin(app, 'PATCH', `keys/${id}`, {
    body: { project: null, expires_at: null, tags: [], note: null, permissions: [], name: 'other' },
  })
  expect(body).toMatchObject({ project: null, expires_at: null, tags: [], note: null, permissions: [] })
  expect(body).toMatchObject({ name: 'other', budget_usd: '5.00' })
  expect(await idsOf(app, `keys?project=${project}`)).toEqual([])
  expect(adminLines(app).at(-1)).toMatchObject({ admin: 'key.change', key: id, name: 'other', project: null })
})

test.each([
  ['a project of another organization', { project: 'OTHER' }, 404],
  ['a project that does not exist', { project: 'proj_none' }, 404],
  ['a time in the past', { expires_at: '2001-01-01T00:00:00Z' }, 400],
  ['two expiries', { expires_at: '2099-01-01T00:00:00Z', expires_in: '1h' }, 400],
  ['an unknown permission', { permissions: ['root'] }, 400],
  ['a tag that is too long', { tags: ['x'.repeat(200)] }, 400],
])('a key cannot be changed to have %s', async (_, change, status) => {
  await using paid = await startAdmin()
  const { app } = paid
  await create(app, 'organizations', { name: 'acme' })
  const other = await create(app, 'projects', { organization: 'acme', name: 'river' })
  const body = JSON.stringify(change).replace('OTHER', other)
  const before = await requestAdmin(app, 'GET', 'keys/Test00000000')
  expect((await requestAdmin(app, 'PATCH', 'keys/Test00000000', { body })).status).toBe(status)
  expect(await requestAdmin(app, 'GET', 'keys/Test00000000')).toEqual(before)
})
