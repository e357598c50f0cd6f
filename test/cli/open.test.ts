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
