import { expect, onTestFinished, test } from 'bun:test'
import { temporaryHome } from '../unit/config/support/temporary-home.ts'
import { callWeir } from './support/run-weir.ts'

async function check(settings: object, ...flags: string[]) {
  using home = temporaryHome({ 'work/weir.yaml': JSON.stringify(settings) })
  return await callWeir(['check', ...flags], home.place('work'))
}

test('the address of Azure AI Foundry ends with /models, which is no endpoint', async () => {
  const base_url = 'https://acme.services.ai.azure.com/models'
  const { code, out } = await check({
    providers: { azure: { base_url, api_key: 'sk-canary' } },
    models: [{ slug: 'acme/river', routes: [{ provider: 'azure', model: 'river' }] }],
  })
  expect(code).toBe(0)
  expect(out).toContain(base_url)
  expect(out).not.toContain('Warnings')
})

const unlisted = {
  perplexity: { api_key: 'sk-canary' },
  snowflake: { base_url: 'https://acme.test/api/v2/cortex/v1', api_key: 'sk-canary' },
  bedrock: { base_url: 'https://acme.test/v1', api_key: 'sk-canary' },
  azure: { base_url: 'https://acme.test', api_key: 'sk-canary' },
}

test('discover: true of a kind without a model list is a warning, and is not advised', async () => {
  for (const [name, entry] of Object.entries(unlisted)) {
    const silent = await check({ providers: { own: { kind: name, ...entry } } })
    expect(silent.code).toBe(0)
    expect(silent.out).toContain('Providers without models\n  own: Name its models under models.\n')
    expect(silent.out).not.toContain('discover')
    const warned = await check({ providers: { own: { kind: name, ...entry, discover: true } } })
    expect(warned.code).toBe(0)
    expect(warned.out).toContain(
      `providers.own.discover: has no effect: kind ${name} has no model list. Name its models under models.\n`,
    )
    expect(warned.out).not.toContain('which are discovered')
  }
})

test('discover: true of a kind with a model list is no warning', async () => {
  const { out } = await check({
    providers: { box: { kind: 'vllm', base_url: 'http://gpu.test/v1', discover: true } },
  })
  expect(out).toContain('Without the models of box, which are discovered.')
  expect(out).not.toContain('Warnings')
})

test('a provider that discover: false keeps unused is neither contacted nor advised on', async () => {
  const requested: string[] = []
  const engine = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => {
      requested.push(new URL(url).pathname)
      return Response.json({ object: 'list', data: [{ id: 'river' }] })
    },
  })
  onTestFinished(() => void engine.stop(true))
  const base_url = `http://127.0.0.1:${engine.port}/v1`
  const ollama = { base_url, discover: false }
  const unused = await check({ providers: { ollama } }, '--online')
  expect({ code: unused.code, err: unused.err }).toEqual({ code: 0, err: '' })
  expect(unused.out).not.toContain('Model lists of the providers')
  expect(unused.out).not.toContain('discover')
  expect(requested).toEqual([])
  const models = [{ slug: 'acme/river', routes: [{ provider: 'ollama', model: 'river' }] }]
  const used = await check({ providers: { ollama }, models }, '--online')
  expect(used.out).toContain('  ollama: 1 model\n')
  expect(requested).toContain('/v1/models')
})
