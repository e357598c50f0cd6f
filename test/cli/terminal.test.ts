import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { supportsColor } from '../../src/cli/context.ts'
import { firstKey } from '../support/app.ts'
import { chunks, delta } from '../support/chat-fixtures.ts'
import { chatRequest } from '../support/scenario.ts'
import { breakOff, json } from '../support/script.ts'
import { createUpstream } from '../support/upstream.ts'
import { temporaryFolder } from '../unit/storage/support/folder.ts'
import { runOnTerminal, withoutEscapes } from './support/run-terminal.ts'

test.each([
  [{}, true],
  [{ TERM: 'dumb' }, false],
  [{ NO_COLOR: '1' }, false],
  [{ NO_COLOR: '' }, true],
  [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true],
  [{ TERM: 'dumb', FORCE_COLOR: '3' }, true],
  [{ FORCE_COLOR: '0' }, false],
])('a terminal with %p has colours: %p', (environment, color) => {
  expect(supportsColor(environment)).toBe(color)
})

const escape = '\u001b'
/** The lines from the first one of a request on. */
const line = /^\d\d:\d\d:\d\d  \S+ +\S.*$/

describe.skipIf(process.platform === 'win32')('weir serve on a terminal', () => {
  test('writes every line in one style, and each failure once, with its cause', async () => {
    const opening = Promise.withResolvers<void>()
    await using upstream = await createUpstream(
      json({ error: { message: 'no' } }, { status: 500 }),
      chunks([delta({ content: 'It is ' }), opening.promise], breakOff),
    )
    await using run = serve({ api_key: '$TOKEN', base_url: upstream.url }, { FORCE_COLOR: '1' })
    const [, url = ''] = await run.until(/listens on (\S+)\r?\n/)
    await (await ask(url, 'acme/river')).text()
    const stream = await ask(url, 'acme/river', true)
    opening.resolve()
    await stream.text()
    await (await ask(url, 'acme/sea')).text()
    await run.until(/model_not_found.*req_/)
    run.type('\u0003')
    expect(await run.exited).toBe(0)
    expect(run.text()).toContain(`${escape}[31m502`)
    const lines = withoutEscapes(run.text()).replace('^C', '').trimEnd().split('\n')
    const failures = lines.filter((text) => text.includes('upstream_unavailable'))
    expect(failures).toHaveLength(2)
    expect(failures[0]).toMatch(
      /  502    POST .*river  acme \(upstream_unavailable\)  The provider acme .*500/,
    )
    expect(failures[1]).toMatch(/  acme \(upstream_unavailable\)  The provider acme .*first token/)
    expect(lines[0]).toMatch(/  warn   The setting providers\.acme\.api_key contains a \$/)
    expect(lines.at(-1)).toMatch(/  info   The gateway is shutting down\./)
    const logged = lines.filter((text) => /^[\d{]/.test(text))
    expect(logged.filter((text) => !line.test(text))).toEqual([])
    expect(logged).toHaveLength(5)
  })

  test('writes no colours where NO_COLOR is set, and JSON with --json', async () => {
    await using plain = serve({ base_url: 'http://127.0.0.1:1/v1', api_key: '$TOKEN' }, { NO_COLOR: '1' })
    await plain.until(/listens on/)
    expect(plain.text()).toMatch(/^\d\d:\d\d:\d\d  warn   The setting/)
    expect(plain.text()).not.toContain(escape)
    await using machine = serve({ base_url: 'http://127.0.0.1:1/v1', api_key: '$TOKEN' }, {}, '--json')
    await machine.until(/listens on/)
    expect(machine.text()).toMatch(/^{"time":"[^"]+","level":"warn","message":"The setting/)
  })
})

function serve(provider: object, environment: Record<string, string>, ...flags: string[]) {
  const folder = temporaryFolder()
  const settings = {
    retries: { attempts: 0 },
    providers: { acme: { kind: 'vllm', ...provider } },
    models: [{ slug: 'acme/river', routes: [{ provider: 'acme', model: 'river-1' }] }],
  }
  writeFileSync(join(folder, 'weir.yaml'), JSON.stringify(settings))
  const own = { WEIR_DATA: join(folder, 'data'), WEIR_BOOTSTRAP_KEY: firstKey }
  return runOnTerminal(['serve', '--port', '0', ...flags], folder, { ...own, ...environment })
}

function ask(url: string, model: string, stream = false): Promise<Response> {
  const headers = { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ ...chatRequest, model, stream })
  return fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
}
