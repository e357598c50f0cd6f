import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { command as check } from '../../src/cli/commands/check.ts'
import { command as models } from '../../src/cli/commands/models.ts'

const folder = await mkdtemp(join(tmpdir(), 'weir-catalog-'))
afterAll(() => rm(folder, { recursive: true }))
let count = 0

/** A data folder of its own, with `run` for `weir models` and its files. */
function createPlace() {
  const data = join(folder, `data-${++count}`)
  mkdirSync(data)
  const printed: string[] = []
  const context = {
    environment: { OPENAI_API_KEY: 'sk-x', OPENROUTER_API_KEY: 'sk-y', OLLAMA_HOST: 'http://127.0.0.1:1' },
    cwd: folder,
    home: '/nonexistent',
    out: (text: string) => void printed.push(text),
    err: () => {},
  }
  async function run(...args: string[]): Promise<string> {
    printed.length = 0
    expect(await models.run([...args, '--data', data], context)).toBe(0)
    return printed.join('\n')
  }
  return {
    data,
    run,
    update: async (content: unknown, ...flags: string[]) => {
      await Bun.write(join(folder, 'list.json'), JSON.stringify(content))
      return JSON.parse(await run('update', '--from', 'list.json', '--json', ...flags))
    },
    pricesOf: async (slug: string, ...flags: string[]) => {
      const list = JSON.parse(await run(slug, '--all', '--json', ...flags))
      return list.find((model: { slug: string }) => model.slug === slug)?.pricing
    },
    check: async () => {
      printed.length = 0
      const code = await check.run(['--data', data], context)
      return { code, text: printed.join('\n') }
    },
  }
}

const mini = 'openai/gpt-5-mini'
const routes = [{ provider: 'openai', model: 'another' }]
const ownList = (pricing: object) => ({ models: [{ slug: mini, pricing }] })

describe('weir models update', () => {
  test('applies a price that rises, says so in the list and in check, and --reset returns to the built-in catalog', async () => {
    const place = createPlace()
    expect(await place.pricesOf(mini)).toMatchObject({ input: 0.25 })
    const { changes, file } = await place.update(ownList({ input: 0.5 }))
    expect(changes).toEqual([
      {
        slug: mini,
        kind: 'changed',
        prices: [{ price: 'input', from: 0.25, to: 0.5, above: 0, effective_from: null, applied: true }],
        facts: [],
        held_back: null,
        applied: true,
      },
    ])
    expect(file).toBe(join(place.data, 'catalog.json'))
    expect(await place.pricesOf(mini)).toMatchObject({ input: 0.5, output: 2 })
    const origin = /It was updated on \d{4}-\d\d-\d\d from \/.*list\.json\./
    expect(await place.run()).toMatch(origin)
    expect((await place.check()).text).toMatch(origin)
    expect((await place.update(ownList({ input: 0.5 }))).changes).toEqual([])
    await place.run('update', '--reset')
    expect(await place.pricesOf(mini)).toMatchObject({ input: 0.25 })
  })

  test('holds back a price that is lower or more than twice as high until it is accepted', async () => {
    const place = createPlace()
    const list = {
      models: [
        { slug: mini, pricing: { input: 0.51 }, context_window: 300_000, max_output_tokens: 130_000 },
        { slug: 'openai/gpt-5', pricing: { output: 9.999_999_999 } },
        { slug: 'acme/free', pricing: { input: 0, output: 0 }, routes },
      ],
    }
    const held = async (...flags: string[]) =>
      (await place.update(list, ...flags)).changes.map((change: Record<string, unknown>) => [
        change.slug,
        change.held_back,
        change.applied,
      ])
    expect(await held('--dry-run')).toEqual([
      [mini, 'input is more than twice as high.', false],
      ['openai/gpt-5', 'output is lower.', false],
      ['acme/free', 'input is free.', false],
    ])
    expect(await readdir(place.data)).toEqual([])
    const parts = (await place.update(list)).changes[0]
    expect(parts).toMatchObject({
      applied: false,
      prices: [{ price: 'input', applied: false }],
      facts: [
        { fact: 'context_window', to: 300_000, applied: false },
        { fact: 'max_output_tokens', to: 130_000, applied: true },
      ],
    })
    expect(await place.pricesOf(mini)).toMatchObject({ input: 0.25 })
    const listed = JSON.parse(await place.run(mini, '--json'))
    expect(JSON.stringify(listed[0])).toContain('130000')
    expect(JSON.stringify(listed[0])).not.toContain('300000')
    await held('--accept', 'openai/gpt-5')
    expect(await place.pricesOf('openai/gpt-5')).toMatchObject({ output: 9.999999999 })
    expect(await place.pricesOf(mini)).toMatchObject({ input: 0.25 })
    await expect(held('--accept', 'openai/gpt-6')).rejects.toThrow('No change of openai/gpt-6 is held back.')
    await held('--accept', 'all')
    expect(await place.pricesOf(mini)).toMatchObject({ input: 0.51 })
    expect(await place.pricesOf('acme/free')).toMatchObject({ input: 0 })
    expect(await held()).toEqual([])
  })

  test('does not change the prices of the settings file', async () => {
    const place = createPlace()
    await place.update(ownList({ input: 0.5, output: 4 }))
    const settings = join(folder, 'priced.yaml')
    await Bun.write(settings, `models: [{ slug: ${mini}, pricing: { input: 7 } }]`)
    const prices = await place.pricesOf(mini, '--config', settings)
    expect(prices).toMatchObject({ input: 7, output: 4 })
  })

  test('leaves the stored catalog whole where the source or the folder fails', async () => {
    const place = createPlace()
    await place.update(ownList({ input: 0.5 }))
    const file = join(place.data, 'catalog.json')
    const before = await Bun.file(file).text()
    for (const broken of [[], {}, 'text', { data: [] }, { models: [{}] }])
      await expect(place.update(broken)).rejects.toThrow('not a known list of models')
    await Bun.write(join(folder, 'cut.json'), '{"models": [')
    await expect(place.run('update', '--from', 'cut.json')).rejects.toThrow('is not valid JSON')
    await Bun.write(join(folder, 'deep.json'), `${'['.repeat(100)}${']'.repeat(100)}`)
    await expect(place.run('update', '--from', 'deep.json')).rejects.toThrow('deeper')
    await expect(place.run('update', '--from', '.')).rejects.toThrow('it is not a file')
    expect(await Bun.file(file).text()).toBe(before)
    expect(await readdir(place.data)).toEqual(['catalog.json'])
    await mkdir(join(place.data, `catalog.json.${process.pid}.part`))
    await expect(place.update(ownList({ input: 0.6 }))).rejects.toThrow('The catalog has not changed.')
    expect(await Bun.file(file).text()).toBe(before)
  })

  test('reports a damaged file of changes instead of using other prices', async () => {
    const place = createPlace()
    await Bun.write(join(place.data, 'catalog.json'), '{"models": 1}')
    const { code, text } = await place.check()
    expect(code).toBe(1)
    expect(text).toContain('run: weir models update --reset')
    await expect(place.run()).rejects.toThrow()
    await place.run('update', '--reset')
    expect((await place.check()).text).toContain('No problems.')
  })

  test('removes a model that has ended only when that is accepted', async () => {
    const place = createPlace()
    const list = { models: [{ slug: mini }], ended: [mini, 'openai/never-was'] }
    expect((await place.update(list)).changes).toMatchObject([{ slug: mini, kind: 'ended', applied: false }])
    expect(await place.pricesOf(mini)).toBeDefined()
    await place.update(list, '--accept', mini)
    expect(await place.pricesOf(mini)).toBeUndefined()
    const back = { models: [{ slug: mini, pricing: { input: 1, output: 2 }, routes }] }
    expect((await place.update(back)).changes).toMatchObject([{ kind: 'added', applied: false }])
    expect(await place.pricesOf(mini)).toBeUndefined()
  })

  test('refuses changes with which the settings would no longer be valid', async () => {
    const place = createPlace()
    const settings = join(folder, 'dependent.yaml')
    await Bun.write(
      settings,
      `user_hash_key: $\{ONLY_OF_THE_SERVICE}\nmodels: [{ slug: ${mini}, pricing: { input: 7 } }, { slug: a/b, aliases: [c/d], routes: [{ provider: openai, model: b }] }]`,
    )
    const update = (list: object) => place.update(list, '--accept', 'all', '--config', settings)
    await expect(update({ models: [{ slug: mini }], ended: [mini] })).rejects.toThrow(
      /dependent\.yaml would not be valid.*\n.*models\[0\].* must have routes, because openai\/gpt-5-mini is not in the catalog\./,
    )
    const taken = { slug: 'c/d', pricing: { input: 1, output: 2 }, routes }
    await expect(update({ models: [taken] })).rejects.toThrow('“c/d” is already a name of c/d')
    expect(await readdir(place.data)).toEqual([])
    expect((await update(ownList({ input: 0.3 }))).changes).toMatchObject([{ slug: mini, applied: true }])
  })

  test('writes a file that every account may read, and only into a data folder that exists', async () => {
    const place = createPlace()
    const umask = process.umask(0o077)
    try {
      await place.update(ownList({ input: 0.5 }))
    } finally {
      process.umask(umask)
    }
    expect((await stat(join(place.data, 'catalog.json'))).mode & 0o777).toBe(0o644)
    await rm(place.data, { recursive: true })
    await expect(place.update(ownList({ input: 0.5 }))).rejects.toThrow('does not exist')
    expect(await readdir(folder)).not.toContain(`data-${count}`)
  })
})

describe('weir models update from a URL', () => {
  const serve = (fetch: (request: Request) => Response) =>
    Bun.serve({ port: 0, hostname: '127.0.0.1', fetch })

  test('reads it, and does not name what may be secret in it', async () => {
    await using server = serve(() => Response.json(ownList({ input: 0.4 })))
    const place = createPlace()
    const text = await place.run('update', '--from', `${server.url}prices.json?token=confidential`)
    expect(text).toContain(`${server.url}prices.json is a list of models in the form of Weir.`)
    expect(text).not.toContain('confidential')
    expect(text).toMatch(/openai\/gpt-5-mini +input +0\.25 +0\.4/)
    expect(await Bun.file(join(place.data, 'catalog.json')).text()).not.toContain('confidential')
  })

  test('rejects plain HTTP, credentials, a redirect to another server without HTTPS, and too many of them', async () => {
    let target = 'http://example.invalid/prices.json'
    let requests = 0
    await using server = serve(() => {
      requests++
      return new Response(null, { status: 302, headers: { location: target } })
    })
    const { run } = createPlace()
    const from = (url: string) => run('update', '--from', url)
    await expect(from('http://example.invalid/prices.json')).rejects.toThrow('does not use https')
    await expect(from('https://me:secret@example.invalid/')).rejects.toThrow('password is not supported')
    await expect(from('file:///etc/passwd')).rejects.toThrow('--from must be the path of a file or a URL')
    await expect(from(String(server.url))).rejects.toThrow('http://example.invalid does not use https')
    target = '/again'
    requests = 0
    await expect(from(String(server.url))).rejects.toThrow('redirects more than 5 times')
    expect(requests).toBe(6)
  })

  test('stops at the bound of its size, and at an error of the server', async () => {
    await using server = serve(({ url }) =>
      url.endsWith('/large')
        ? new Response(null, { headers: { 'content-length': String(65 * 1024 * 1024) } })
        : new Response('no', { status: 500 }),
    )
    const { run } = createPlace()
    await expect(run('update', '--from', `${server.url}error`)).rejects.toThrow('status 500')
    await Bun.write(join(folder, 'large.json'), ' '.repeat(64 * 1024 * 1024 + 1))
    await expect(run('update', '--from', 'large.json')).rejects.toThrow('more than 64 MiB')
  })
})
