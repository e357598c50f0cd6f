import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { browserCommand } from '../../src/cli/commands/open.ts'
import { startWeir } from '../reliability/operation/support/weir-process.ts'
import { temporaryHome } from '../unit/config/support/temporary-home.ts'
import { runWeir } from './support/run-weir.ts'

const key = 'sk-weir-Test00000000-SecretSecretSecretSecretSecret00'

describe('weir open', () => {
  test('prints the address of the page where there is no browser, with the key of the environment in the fragment', async () => {
    using home = temporaryHome()
    const folder = home.place('work')
    await using server = await startWeir({ settings: {}, folder })
    const { port } = new URL(server.url)
    const without = await runWeir(['open', '--port', port], folder)
    expect(without).toEqual({ code: 0, out: `http://127.0.0.1:${port}/\n`, err: '' })
    const withKey = await runWeir(['open', '--port', port, '--json'], folder, { WEIR_API_KEY: key })
    expect(JSON.parse(withKey.out)).toEqual({ url: `http://127.0.0.1:${port}/#key=${key}`, opened: false })
  })

  test.skipIf(process.platform !== 'linux')('starts the browser with the address', async () => {
    using home = temporaryHome()
    const folder = home.place('work')
    const program = join(folder, 'xdg-open')
    await Bun.write(program, `#!/bin/sh\nprintf %s "$1" > '${join(folder, 'opened')}'\n`)
    chmodSync(program, 0o755)
    await using server = await startWeir({ settings: {}, folder })
    const { port } = new URL(server.url)
    const environment = { PATH: `${folder}:/usr/bin:/bin`, DISPLAY: ':0', WEIR_API_KEY: key }
    const { code, out } = await runWeir(['open', '--port', port], folder, environment)
    expect({ code, out }).toEqual({ code: 0, out: `http://127.0.0.1:${port}/ was opened in the browser.\n` })
    expect(await Bun.file(join(folder, 'opened')).text()).toBe(`http://127.0.0.1:${port}/#key=${key}`)
  })

  test('opens the page as the operator with a new admin key, which expires, and is revoked by its id', async () => {
    using home = temporaryHome()
    const folder = home.place('work')
    await using server = await startWeir({ settings: {}, folder })
    const { port } = new URL(server.url)
    const environment = { WEIR_DATA: folder, WEIR_API_KEY: key }
    const { code, out, err } = await runWeir(['open', '--admin', '--port', port], folder, environment)
    const [, admin = '', id = ''] =
      /^http:.*\/#key=sk-weir-Test.*&key=(sk-weir-admin-(\w+)-\w+)\n$/.exec(out) ?? []
    expect({ code, err }).toEqual({
      code: 0,
      err: `The page has the new admin key ${id}, which expires in 12 hours. To revoke it earlier, run: weir admin-keys revoke ${id}\n`,
    })
    const headers = { authorization: `Bearer ${admin}` }
    expect((await fetch(`${server.url}/admin/keys`, { headers })).status).toBe(200)
    const listed = await runWeir(['admin-keys', 'list', '--json'], folder, environment)
    const [record, ...others] = JSON.parse(listed.out)
    expect([record, others]).toEqual([expect.objectContaining({ id, name: 'weir open' }), []])
    const hours = (Date.parse(record.expires_at) - Date.parse(record.created_at)) / 3_600_000
    expect(hours).toBeCloseTo(12, 1)
  })

  test('opens the page with the admin key of the environment, and creates none', async () => {
    using home = temporaryHome()
    const folder = home.place('work')
    await using server = await startWeir({ settings: {}, folder, environment: { WEIR_ADMIN_KEY: 'a&b' } })
    const { port } = new URL(server.url)
    const environment = { WEIR_DATA: folder, WEIR_ADMIN_KEY: 'a&b' }
    const { out, err } = await runWeir(['open', '--admin', '--port', port], folder, environment)
    expect({ out, err }).toEqual({ out: `http://127.0.0.1:${port}/#key=a%26b\n`, err: '' })
    expect((await runWeir(['admin-keys', 'list', '--json'], folder, environment)).out).toBe('[]\n')
  })

  test('creates no admin key that lasts for a gateway with another database', async () => {
    using home = temporaryHome()
    const [folder, other] = [home.place('work'), home.place('other')]
    await using server = await startWeir({ settings: {}, folder })
    const { port } = new URL(server.url)
    const environment = { WEIR_DATA: other }
    await runWeir(['orgs', 'create', 'acme'], folder, environment)
    const { code, out, err } = await runWeir(['open', '--admin', '--port', port], folder, environment)
    expect([code, out, err]).toEqual([1, '', expect.stringContaining('does not use the database')])
    const listed = await runWeir(['admin-keys', 'list', '--json'], folder, environment)
    expect(JSON.parse(listed.out)).toEqual([expect.objectContaining({ revoked_at: expect.any(String) })])
  })

  test('fails where no gateway serves, and where the page is disabled', async () => {
    using home = temporaryHome()
    const folder = home.place('work')
    const { code, err } = await runWeir(['open', '--url', 'http://127.0.0.1:1'], folder)
    expect([code, err]).toEqual([1, expect.stringContaining('No gateway serves at http://127.0.0.1:1.')])
    await Bun.write(join(folder, 'weir.yaml'), 'page: false\n')
    const disabled = await runWeir(['open'], folder)
    expect([disabled.code, disabled.err]).toEqual([1, expect.stringContaining('The page is disabled')])
  })
})

test('a session without a display has no browser, and other systems have programs of their own', () => {
  expect(browserCommand({ environment: { PATH: '/usr/bin' } }, 'linux')).toBeUndefined()
  expect(browserCommand({ environment: { PATH: '/nowhere' } }, 'darwin')).toBeUndefined()
})
