import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type AdminPermission, adminPermissions } from '../../../src/domain/accounting/organization.ts'
import { fieldsOf } from '../../../src/lib/json/json.ts'
import { type BillingScenario } from '../../support/billing-scenario.ts'
import { adminKey, adminLines, startAdmin } from '../support/admin.ts'

let paid: BillingScenario
beforeAll(async () => {
  paid = await startAdmin()
})
afterAll(() => paid[Symbol.asyncDispose]())

async function createKey(permissions?: readonly AdminPermission[]): Promise<string> {
  const input = { name: 'ada', expiresAt: null, ...(permissions && { permissions }) }
  return (await paid.billing.adminKeys.create(input)).key.reveal()
}

/** Sends a request without a body, and returns the status and the code of the error. */
async function ask(method: string, path: string, key: string) {
  const reply = await paid.app.request(path, { method, headers: { authorization: `Bearer ${key}` } })
  const body = fieldsOf(await reply.json())
  return { status: reply.status, code: fieldsOf(body.error).code, body }
}

/** The operations of the admin API in the document; nothing has the ids of their paths. */
async function adminOperations() {
  const { paths } = fieldsOf(await (await paid.app.request('/openapi.json')).json())
  return Object.entries(fieldsOf(paths))
    .filter(([path]) => path.startsWith('/admin/'))
    .flatMap(([path, operations]) =>
      Object.entries(fieldsOf(operations)).map(([method, operation]) => {
        const description = String(fieldsOf(operation).description)
        const readingPermission = path.endsWith('/content') ? 'content' : 'read'
        const permission: AdminPermission = method === 'get' ? readingPermission : 'write'
        return {
          method: method.toUpperCase(),
          path: path.replace(/\{\w+\}/g, 'nothing'),
          permission,
          description,
        }
      }),
    )
}

describe('an admin key with the permission read', () => {
  test('gets 403 at every operation that changes something or shows content, and at no other', async () => {
    const key = await createKey(['read'])
    const operations = await adminOperations()
    const changing = operations.filter(({ permission }) => permission === 'write')
    expect(changing.length).toBeGreaterThan(15)
    expect(operations.length - changing.length).toBeGreaterThan(10)
    expect(operations.filter(({ permission }) => permission === 'content')).toHaveLength(1)
    for (const { method, path, permission, description } of operations) {
      const { status, code } = await ask(method, path, key)
      const isAllowed = permission === 'read'
      expect([method, path, status === 403, code === 'admin_permission_required']).toEqual([
        method,
        path,
        !isAllowed,
        !isAllowed,
      ])
      if (isAllowed) expect([200, 400, 404]).toContain(status)
      expect(description).toEndWith(`with the permission \`${permission}\`.`)
    }
    expect(adminLines(paid.app)).toEqual([])
  })

  test('reads usage and costs of all organizations', async () => {
    const key = await createKey(['read'])
    for (const report of ['usage/completions', 'costs'])
      expect((await ask('GET', `/v1/organization/${report}?start_time=1`, key)).status).toBe(200)
  })
})

test('an admin key with the permission write may change everything, and sees no content', async () => {
  const key = await createKey()
  for (const { method, path, permission } of await adminOperations()) {
    const { status } = await ask(method, path, key)
    const allowed = permission === 'content' ? [403] : [200, 400, 404]
    expect([method, path, allowed.includes(status) || status]).toEqual([method, path, true])
  }
})

test('an admin key sees its name and what it may do, and WEIR_ADMIN_KEY may do everything', async () => {
  const content = await createKey(['read', 'content'])
  const { body } = await ask('GET', '/admin/admin_key', content)
  const [, id] = /^sk-weir-admin-(\w+)-/.exec(content) ?? []
  expect(body).toEqual({ object: 'admin_key', id, name: 'ada', permissions: ['read', 'content'] })
  expect((await ask('GET', '/admin/admin_key', adminKey)).body).toEqual({
    object: 'admin_key',
    id: null,
    name: 'WEIR_ADMIN_KEY',
    permissions: [...adminPermissions],
  })
})
