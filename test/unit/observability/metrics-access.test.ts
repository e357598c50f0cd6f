import { expect, test } from 'bun:test'
import { createMetricsPage } from '../../../src/api/system/metrics-page.ts'
import { createAdminAccess } from '../../../src/http/admin-access.ts'
import { startApp } from '../../support/app.ts'

const key = 'key-of-the-operator'

/** What a request from this address gets: the metrics, or the code of the error. */
async function shown(
  address: string | null,
  headers: Readonly<Record<string, string>>,
  adminKey?: string,
): Promise<unknown> {
  const access = createAdminAccess(adminKey, { find: () => undefined })
  const metrics = { render: () => 'metrics' }
  const page = createMetricsPage(
    metrics,
    access,
    () => address,
    () => 'gate.test',
  )
  try {
    return await page.render(new Request('http://localhost/metrics', { headers }))
  } catch (error) {
    return (error as { status: number }).status
  }
}

test.each(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])(
  'the metrics are open to a program of this machine: %s',
  async (address) => {
    expect(await shown(address, {})).toBe('metrics')
  },
)

test.each(['10.0.0.7', '::ffff:10.0.0.7', '::12', '1127.0.0.1', null])(
  'the metrics are closed to another machine: %s',
  async (address) => {
    expect(await shown(address, {})).toBe(403)
    expect(await shown(address, {}, key)).toBe(403)
  },
)

test.each(['x-forwarded-for', 'forwarded', 'via', 'x-real-ip', 'x-forwarded-host', 'origin'])(
  'the metrics are closed to a proxy or a browser of this machine, which sends %s',
  async (name) => {
    expect(await shown('127.0.0.1', { [name]: '127.0.0.1' })).toBe(403)
  },
)

test.each([
  'localhost',
  'localhost:9347',
  'LOCALHOST',
  '127.0.0.1:9347',
  '127.8.8.8',
  '[::1]:9347',
  '[::1]',
  'gate.test:1',
])('the metrics are open to a program of this machine that requests the host %s', async (host) => {
  expect(await shown('127.0.0.1', { host })).toBe('metrics')
})

test.each([
  'evil.example',
  'evil.example:9347',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'gate.test.evil',
  '0',
  '::1',
])('the metrics are closed to a page whose host name leads to this machine: %s', async (host) => {
  expect(await shown('127.0.0.1', { host })).toBe(403)
  expect(await shown('::1', { host, authorization: `Bearer ${key}` }, key)).toBe('metrics')
})

test('a server checks the requested host name before it serves metrics', async () => {
  await using app = await startApp()
  const statusOf = async (host: string) => (await app.request('/metrics', { headers: { host } })).status
  expect([await statusOf('evil.example'), await statusOf('localhost')]).toEqual([403, 200])
})

test('the metrics key opens the metrics from anywhere, and only the complete key', async () => {
  const with_ = (input: string, adminKey?: string) => shown('10.0.0.7', { authorization: input }, adminKey)
  expect(await with_(`Bearer ${key}`, key)).toBe('metrics')
  expect(await with_(`bearer ${key}`, key)).toBe('metrics')
  for (const wrong of [`Bearer ${key}x`, `Bearer ${key.slice(1)}`, `Basic ${key}`, 'Bearer ', key]) {
    expect([wrong, await with_(wrong, key)]).toEqual([wrong, 403])
  }
})

test('where no metrics key is set, no key opens the metrics', async () => {
  for (const input of ['Bearer ', 'Bearer undefined']) {
    expect(await shown('10.0.0.7', { authorization: input })).toBe(403)
    expect(await shown('10.0.0.7', { authorization: input }, '')).toBe(403)
  }
})

test('a server checks access to the metrics before and after a reload of its settings', async () => {
  await using app = await startApp({ environment: { WEIR_ADMIN_KEY: key } })
  const statusOf = async (headers: Readonly<Record<string, string | null>>) =>
    (await app.request('/metrics', { headers })).status
  const expectRules = async () => {
    expect(await statusOf({ authorization: null })).toBe(200)
    expect(await statusOf({ 'x-forwarded-for': '10.0.0.7' })).toBe(403)
    expect(await statusOf({ 'x-forwarded-for': '10.0.0.7', authorization: `Bearer ${key}` })).toBe(200)
  }
  await expectRules()
  const { settings } = app.runtime.configuration()
  await app.runtime.reload({ settings, file: null, environment: {} })
  await expectRules()
})
