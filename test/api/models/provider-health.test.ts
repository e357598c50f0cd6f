import { afterEach, describe, expect, test } from 'bun:test'
import { type Fields, fieldsOf } from '../../../src/lib/json/json.ts'
import { type App, startApp } from '../../support/app.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest, providerKey } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'
import { type Engine, restartEngine, startEngine } from '../../support/engine.ts'
import { adminKey, requestAdmin, startAdmin } from '../support/admin.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** A gateway that discovers the models of an engine. */
async function startDiscovery(engine: Engine, clock?: () => number): Promise<App> {
  const box = { kind: 'vllm', base_url: engine.url, discover: true, api_key: providerKey }
  const app = await startApp({
    settings: { retries: { attempts: 0 }, providers: { box } },
    environment: { WEIR_ADMIN_KEY: adminKey },
    ...(clock && { clock }),
  })
  ends.push(() => app.stop(), engine.stop)
  return app
}

async function providerNamed(app: App, name: string): Promise<Fields> {
  const { body } = await requestAdmin(app, 'GET', 'providers')
  return fieldsOf((body.data as Fields[]).find(({ id }) => id === name))
}

const testBox = (app: App) => requestAdmin(app, 'POST', 'providers/box/test')

describe('an engine whose models are discovered', () => {
  test('is ok once it has listed its models, without any request', async () => {
    const app = await startDiscovery(startEngine())
    const box = await providerNamed(app, 'box')
    expect(box).toMatchObject({ health: 'ok', problem: null, testable: true })
    expect(box.last_check_at).toBeString()
  })

  test('fails with a message and a remedy while it is not running, and is ok soon after it was started', async () => {
    const engine = startEngine()
    await engine.stop()
    const app = await startDiscovery(engine)
    const box = await providerNamed(app, 'box')
    expect(box.health).toBe('failing')
    expect(box.problem).toMatchObject({
      source: 'check',
      message: expect.stringMatching(/^The connection to the provider failed \(\w+\)\.$/),
      remedy: expect.stringContaining('is running'),
      request: null,
    })
    ends.push(restartEngine(engine).stop)
    // Discovery tries again after one second, two, four …
    while ((await providerNamed(app, 'box')).health !== 'ok') await Bun.sleep(20)
  })

  test('fails after it was stopped, and is ok after it was started again, each with a test', async () => {
    const engine = startEngine()
    let now = 0
    const app = await startDiscovery(engine, () => now)
    await engine.stop()
    const { body: stopped } = await testBox(app)
    expect(stopped).toMatchObject({ health: 'failing', problem: { source: 'check' } })
    expect(await providerNamed(app, 'box')).toEqual(stopped)
    ends.push(restartEngine(engine).stop)
    expect((await testBox(app)).body).toEqual(stopped)
    now += 2000
    expect((await testBox(app)).body).toMatchObject({ health: 'ok', problem: null })
  })

  test('fails after a request that could not reach it, with the ID of that request, until it lists its models', async () => {
    const engine = startEngine()
    const app = await startDiscovery(engine)
    await engine.stop()
    const reply = await app.chat({ ...chatRequest, model: 'box/river-9b' })
    expect(reply.status).toBe(502)
    const { problem } = await providerNamed(app, 'box')
    expect(problem).toMatchObject({ source: 'request', request: reply.headers.get('x-request-id') })
    ends.push(restartEngine(engine).stop)
    const { body: started } = await testBox(app)
    expect(started).toMatchObject({ health: 'ok', problem: null })
    expect(fieldsOf((started.routes as Fields[])[0]).last_error).toMatchObject({
      code: 'upstream_unavailable',
    })
  })

  test('fails when it rejects the key, and neither the reply nor the log has the key', async () => {
    const engine = startEngine(() => Response.json({ error: providerKey }, { status: 401 }))
    const app = await startDiscovery(engine)
    const box = await providerNamed(app, 'box')
    expect(box.problem).toMatchObject({
      message: 'The provider rejected the API key with status 401.',
      remedy: expect.stringContaining('API key'),
    })
    expect(JSON.stringify(box) + app.lines.join()).not.toContain(providerKey)
  })

  test('is requested once for tests that arrive while one is open', async () => {
    const opened = Promise.withResolvers<void>()
    const engine = startEngine()
    const app = await startDiscovery(engine)
    engine.reply(() => opened.promise.then(() => Response.json({ object: 'list', data: [] })))
    const before = engine.requests.length
    const replies = [testBox(app), testBox(app), testBox(app)]
    while (engine.requests.length === before) await Bun.sleep(5)
    opened.resolve()
    for (const { status, body } of await Promise.all(replies)) {
      expect(status).toBe(200)
      expect(body.health).toBe('ok')
    }
    expect(engine.requests.slice(before).map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/models',
    ])
  })
})

describe('a provider without discovery', () => {
  const list = json({ object: 'list', data: [{ id: 'river-1' }] })

  test('is tested with its list of models, not with a request that costs money', async () => {
    await using paid = await startAdmin([list])
    const { status, body } = await requestAdmin(paid.app, 'POST', 'providers/acme/test')
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: 'acme', health: 'ok', discovers_models: false })
    const { method, path, body: sent } = await paid.acme.request(0)
    expect([method, path, sent]).toEqual(['GET', '/v1/models', {}])
  })

  test('keeps failing for a request that failed although a test at another time succeeded', async () => {
    await using paid = await startAdmin([list, json({ error: { message: 'x' } }, { status: 500 })])
    await requestAdmin(paid.app, 'POST', 'providers/acme/test')
    await (await paid.app.chat(chatRequest)).text()
    const acme = await providerNamed(paid.app, 'acme')
    expect(acme.health).toBe('failing')
    expect(acme.problem).toMatchObject({ source: 'request' })
  })

  test('is ok after a request that it rejected as invalid: the caller has to correct it', async () => {
    await using paid = await startAdmin([json({ error: { message: 'Bad image.' } }, { status: 400 })])
    await (await paid.app.chat(chatRequest)).text()
    const acme = await providerNamed(paid.app, 'acme')
    expect(acme).toMatchObject({ health: 'ok', problem: null })
    expect(JSON.stringify(acme)).not.toContain('Bad image')
  })
})

test('only the operator tests providers, and only those of the settings that have a list', async () => {
  const azure = { kind: 'azure', base_url: 'https://azure.test/openai/v1', api_key: providerKey }
  await using paid = await startAdmin(jsonReply(), { settings: { providers: { azure } } })
  const { app } = paid
  const asCaller = { headers: { authorization: `Bearer ${app.key}` } }
  expect((await requestAdmin(app, 'POST', 'providers/acme/test', asCaller)).status).toBe(401)
  for (const name of ['nowhere', 'http:%2F%2F127.0.0.1:1', '__proto__'])
    expect((await requestAdmin(app, 'POST', `providers/${name}/test`)).status).toBe(404)
  const untestable = await requestAdmin(app, 'POST', 'providers/azure/test')
  expect(untestable.status).toBe(400)
  expect(fieldsOf(untestable.body.error).message).toContain('no list of models')
  expect(paid.acme.requests).toEqual([])
})
